"""Documents of office programs: archives of XML (DOCX, PPTX, XLSX, ODT, ODP, ODS, EPUB), their predecessors, RTF."""
