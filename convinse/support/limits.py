"""The largest size of each part of an input. Larger parts are refused, or left out if the rest is of use (docs/limits.md).

A small file can stand for much: a packed one for its unpacked bytes, a table for the cells that its spans cover.
"""

# bytes of a line, or of a document among others: the largest entities and pages have a quarter of it
LONGEST_LINE = 1 << 24
LARGEST_PACKED = 1 << 24  # bytes that a packed file read as a whole may have, however small it is
MOST_UNPACKED = 20  # times as large as a packed file its content may be beyond that; JSON is packed to a tenth
MOST_PAGE_TEXT = 4_000_000  # characters of all evidences of a page; the longest articles have a quarter of it
MOST_TABLE_CELLS = 200_000  # of a table, those that spans cover counted
DEEPEST_ELEMENT = 100  # elements of a page within one another; MediaWiki renders some forty
LARGEST_CONFIG = 1 << 18  # bytes of a file of settings: what YAML takes seconds for
LARGEST_PICKLE = 1 << 34  # bytes of a pickle, all of which is read into memory
MOST_ITEM_TEXT = 1 << 24  # bytes that the evidences of a pickle may always have
MOST_TIMES_PICKLE = 10  # times as large as a pickle all its evidences may be, beyond that
LONGEST_QUESTION = 2_000  # characters of a question to a pipeline; the longest of any data set have some hundreds
LARGEST_DOCUMENT = 50_000_000  # bytes of a file of a folder that is asked about
LARGEST_UNPACKED = 200_000_000  # bytes of what a packed document (.docx, .xlsx, .pptx, .epub) unpacks to
MOST_DOCUMENTS = 200_000  # files of an index
