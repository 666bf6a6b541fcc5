import type { Caller } from '../../../core/http/endpoint.ts'
import { ClientSession, OperatorSession } from '../record/session-view.schema.ts'
import type { ExportRow } from './export.service.ts'

/** How a document of sessions is written, piece by piece. */
export interface ExportFormat {
  readonly mediaType: string
  readonly head: string
  /** One page; `isFirst` while nothing but the head has been written. */
  page(rows: readonly ExportRow[], isFirst: boolean): string
  readonly tail: string
}

const CLIENT_FIELDS = Object.keys(ClientSession.shape)
const OPERATOR_FIELDS = Object.keys(OperatorSession.shape)
/** The fields of the caller's view of a session. */
const fieldsOf = (row: ExportRow) => (row.owned ? CLIENT_FIELDS : OPERATOR_FIELDS)

export const jsonExport: ExportFormat = {
  mediaType: 'application/json',
  head: '{"sessions":[',
  page: (rows, isFirst) =>
    (isFirst || rows.length === 0 ? '' : ',') +
    rows.map((row) => JSON.stringify(row, fieldsOf(row))).join(','),
  tail: ']}',
}

/** A table of the fields of the caller's view; who is both client and operator gets the columns of both. */
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

/** RFC 4180: commas between, CRLF behind. */
const line = (values: readonly unknown[]) => `${values.map(cell).join(',')}\r\n`

/** What a spreadsheet takes for the beginning of a formula; some read the full-width signs like the plain ones. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** Numbers as they are; null empty; text that would be a formula behind an apostrophe. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = String(value)
  const escaped = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}
