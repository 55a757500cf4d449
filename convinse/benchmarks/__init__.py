"""Earlier import paths of converters of one's own, which keep working; `convinse.formats.converters` has all of it."""
