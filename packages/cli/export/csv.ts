import { type Options, stringify } from 'csv-stringify/sync'

const OPTIONS: Options = {
  record_delimiter: 'windows',
  quote_record_delimiter: true,
  escape_formulas: true,
  cast: {
    boolean: String,
    // `escape_formulas` does not know that some spreadsheets skip a line feed before a formula.
    string: (text) => (text.startsWith('\n') ? `'${text}` : text),
  },
}

/** Returns lines of CSV (RFC 4180), with CRLF. Escapes texts that a spreadsheet would run as formulas. */
export const csvLines = (rows: readonly (readonly unknown[])[]): string => stringify([...rows], OPTIONS)
