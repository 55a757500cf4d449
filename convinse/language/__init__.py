"""Everything that is English: words, stems, answer types, and the word lists that they rest on."""
