import { Readable } from 'node:stream'
import { type Caller, type Endpoint, endpoint } from '../../../core/http/endpoint.ts'
import type { Log } from '../../../core/log.ts'
import { ExportSessions } from '../record/session.schema.ts'
import { SessionList } from '../record/session-view.schema.ts'
import { EXPORT_PAGE, type ExportRow, type ReadPage, type SessionExports } from './export.service.ts'
import { csvExport, type ExportFormat, jsonExport } from './export-format.ts'

interface ExportDeps {
  readonly exports: SessionExports
  readonly now: () => Date
  readonly log: Log
}

export function exportEndpoints(deps: ExportDeps): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/export',
      summary: 'Downloads your sessions, newest first, as CSV or as JSON',
      access: { scope: 'read' },
      body: ExportSessions,
      response: [200],
      media: ['text/csv', 'application/json'],
      download: SessionList,
      run: async ({ caller, body, http }) => {
        const { format: name, ...filter } = body
        const format = name === 'csv' ? csvExport(caller) : jsonExport
        // The first page is read before the response starts, so that an unreachable database still yields a 503.
        const read = deps.exports.reader(caller, filter)
        const first = await read()
        const date = deps.now().toISOString().slice(0, 10)
        http.set('Content-Type', format.mediaType)
        http.set('Content-Disposition', `attachment; filename="sessions-${date}.${name}"`)
        http.set('Cache-Control', 'no-store')
        // Reads the next page only after the client has received the previous one. A failure closes the connection, so
        // that the client cannot mistake a truncated export for a complete one.
        http.body = Readable.from(writeExport(deps.log, { caller, format, first, read }), {
          highWaterMark: 1,
        })
      },
    }),
  ]
}

async function* writeExport(
  log: Log,
  job: { caller: Caller; format: ExportFormat; first: ExportRow[]; read: ReadPage },
): AsyncGenerator<string> {
  const { caller, format, read } = job
  try {
    yield format.head
    let page = job.first
    for (let pageIndex = 0; page.length > 0; pageIndex++) {
      yield format.page(page, pageIndex === 0)
      const last = page.at(-1)
      page = page.length < EXPORT_PAGE ? [] : await read(last)
    }
    if (format.tail !== '') yield format.tail
  } catch (cause) {
    log.error({ err: cause, userId: caller.userId }, 'session export failed')
    throw cause
  }
}
