"""An earlier path of `convinse.formats.converters`."""

from ..formats.converters import Answer, Converter, Dataset, Document, Format, Part, Question, Record, Span, register

__all__ = ["Answer", "Converter", "Dataset", "Document", "Format", "Part", "Question", "Record", "Span", "register"]
