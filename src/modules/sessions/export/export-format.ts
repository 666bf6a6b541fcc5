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

const CLIENT_FIELDS = Object.keys(ClientSession.shape)
const OPERATOR_FIELDS = Object.keys(OperatorSession.shape)
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
    head: line(columns),
    page: (rows) =>
      rows
        .map((row) => {
          const values: Readonly<Record<string, unknown>> = row
          const fields = fieldsOf(row)
          return line(columns.map((column) => (fields.includes(column) ? values[column] : null)))
        })
        .join(''),
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

/** Returns a CSV line as of RFC 4180, with CRLF. */
const line = (values: readonly unknown[]) => `${values.map(cell).join(',')}\r\n`

/** Characters that start a formula in a spreadsheet. Some spreadsheets accept the full-width signs, too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** Returns a CSV field: empty for null, with a leading apostrophe for text that a spreadsheet would run as a formula. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = String(value)
  const escaped = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}
