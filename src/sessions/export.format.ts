import type { Caller } from '../http/endpoint.ts'
import { ClientSession, OperatorSession, type SessionView } from './session.records.ts'

/** How a document of sessions is written, piece by piece. */
export interface ExportFormat {
  readonly mediaType: string
  readonly head: string
  /** One page; `isFirst` while nothing but the head has been written. */
  page(sessions: readonly SessionView[], isFirst: boolean): string
  readonly tail: string
}

export const jsonExport: ExportFormat = {
  mediaType: 'application/json',
  head: '{"sessions":[',
  page: (sessions, isFirst) =>
    (isFirst || sessions.length === 0 ? '' : ',') +
    sessions.map((session) => JSON.stringify(session)).join(','),
  tail: ']}',
}

/** A table of the fields of the caller's view; who is both client and operator gets the columns of both. */
export function csvExport(caller: Pick<Caller, 'roles'>): ExportFormat {
  const columns = columnsFor(caller)
  return {
    mediaType: 'text/csv; charset=utf-8',
    head: line(columns),
    page: (sessions) =>
      sessions
        .map((session) => {
          const fields: Readonly<Record<string, unknown>> = session
          return line(columns.map((column) => fields[column]))
        })
        .join(''),
    tail: '',
  }
}

function columnsFor({ roles }: Pick<Caller, 'roles'>): string[] {
  const client = Object.keys(ClientSession.shape)
  const operator = Object.keys(OperatorSession.shape)
  return [
    ...client.filter((column) => operator.includes(column)),
    ...(roles.includes('client') ? client.filter((column) => !operator.includes(column)) : []),
    ...(roles.includes('operator') ? operator.filter((column) => !client.includes(column)) : []),
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
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
