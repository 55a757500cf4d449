"""What MediaWiki's renderers write differently, and what is read of it."""

EDIT = '<span class="mw-editsection"><span>[</span><a href="/w/index.php?action=edit">edit</a><span>]</span></span>'
HEADINGS = {  # renderer -> a heading of a level with a text
    "legacy": f'<h{{0}}><span class="mw-headline" id="x">{{1}}</span>{EDIT}</h{{0}}>',
    "current": f'<div class="mw-heading mw-heading{{0}}"><h{{0}} id="x">{{1}}</h{{0}}>{EDIT}</div>',
    "parsoid": '<h{0} id="x">{1}</h{0}>',
}


def anchors(snippet):
    """The links of a snippet as (anchor, title)."""
    return [(snippet.text[link.start : link.end], link.target) for link in snippet.links]
