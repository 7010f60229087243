"""Documents that are ZIP archives of XML: DOCX, PPTX, XLSX, ODT, EPUB."""
