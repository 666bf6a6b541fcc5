import { type Options, stringify } from 'csv-stringify/sync'
import type { Caller } from '../../../core/http/endpoint.ts'
import { ClientSession, OperatorSession } from '../record/session-view.schema.ts'
import type { ExportRow } from './export.service.ts'

/** Serializes an export in parts: head, pages, tail. */
export interface ExportFormat {
  readonly mediaType: string
  readonly head: string
  /** Serializes one page. `isFirst` is true for the first page after the head. */
  page(rows: readonly ExportRow[], isFirst: boolean): string
  readonly tail: string
}

/** `own_operator` is not in exports: it would be a new column for programs that know the columns. */
const isExported = (field: string) => field !== 'own_operator'
const CLIENT_FIELDS = Object.keys(ClientSession.shape).filter(isExported)
const OPERATOR_FIELDS = Object.keys(OperatorSession.shape).filter(isExported)
/** Returns the fields of the caller's view of a session. */
const fieldsOf = (row: ExportRow) => (row.owned ? CLIENT_FIELDS : OPERATOR_FIELDS)

export const jsonExport: ExportFormat = {
  mediaType: 'application/json',
  head: '{"sessions":[',
  page: (rows, isFirst) =>
    (isFirst || rows.length === 0 ? '' : ',') +
    rows.map((row) => JSON.stringify(row, fieldsOf(row))).join(','),
  tail: ']}',
}

/** Returns a CSV format with the fields of the caller's view. A client who is also an operator receives all columns. */
export function csvExport(caller: Pick<Caller, 'roles'>): ExportFormat {
  const columns = columnsFor(caller)
  return {
    mediaType: 'text/csv; charset=utf-8',
    head: stringify([columns], CSV),
    page: (rows) =>
      stringify(
        rows.map((row) => {
          const values: Readonly<Record<string, unknown>> = row
          const fields = fieldsOf(row)
          return columns.map((column) => (fields.includes(column) ? values[column] : null))
        }),
        CSV,
      ),
    tail: '',
  }
}

function columnsFor({ roles }: Pick<Caller, 'roles'>): string[] {
  return [
    ...CLIENT_FIELDS.filter((field) => OPERATOR_FIELDS.includes(field)),
    ...(roles.includes('client') ? CLIENT_FIELDS.filter((field) => !OPERATOR_FIELDS.includes(field)) : []),
    ...(roles.includes('operator') ? OPERATOR_FIELDS.filter((field) => !CLIENT_FIELDS.includes(field)) : []),
  ]
}

/** CSV as of RFC 4180, with CRLF. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
const CSV: Options = {
  record_delimiter: 'windows',
  quote_record_delimiter: true,
  escape_formulas: true,
  // `escape_formulas` does not know that some spreadsheets skip a line feed before a formula.
  cast: { string: (text) => (text.startsWith('\n') ? `'${text}` : text) },
}
