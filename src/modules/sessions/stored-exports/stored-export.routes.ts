import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { csvExport, jsonExport } from '../export/export-format.ts'
import { ExportSessions } from '../record/session.schema.ts'
import { SessionList } from '../record/session-view.schema.ts'
import { DIRECT_ROWS, ExportCount, StoredExport, StoredExportList } from './stored-export.schema.ts'
import type { StoredExports } from './stored-export.service.ts'

/** Returns the routes of exports that a job writes. */
export function storedExportEndpoints({ storedExports }: { storedExports: StoredExports }): Endpoint[] {
  return [...requestEndpoints(storedExports), ...ownEndpoints(storedExports)]
}

function requestEndpoints(storedExports: StoredExports): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/session-exports/count',
      summary: 'Counts the sessions that an export would have',
      access: { scope: 'read' },
      body: ExportSessions,
      response: [200, ExportCount],
      run: async ({ caller, body }) => {
        const rows = await storedExports.count(caller, body)
        return { rows, direct: rows <= DIRECT_ROWS }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/session-exports',
      summary: 'Starts an export of your sessions in the background',
      access: { scope: 'read' },
      body: ExportSessions,
      response: [202, StoredExport],
      example: { status: 'PENDING', rows: 0, bytes: 0, finished_at: null },
      errors: {
        409: {
          export_limit_reached: 'when two of your exports are running, or five are stored',
          export_too_large: 'when more than 1,000,000 sessions match',
        },
      },
      run: async ({ caller, body }) => await storedExports.create(caller, body),
    }),
    endpoint({
      method: 'get',
      path: '/api/session-exports',
      list: true,
      summary: 'Lists your stored exports of sessions, newest first',
      access: { scope: 'read' },
      response: [200, StoredExportList],
      run: async ({ caller }) => ({ exports: await storedExports.list(caller) }),
    }),
  ]
}

function ownEndpoints(storedExports: StoredExports): Endpoint[] {
  const params = idParams('sessionExport')
  return [
    endpoint({
      method: 'get',
      path: '/api/session-exports/{id}',
      summary: 'Shows a stored export of sessions and its progress',
      access: { scope: 'read' },
      params,
      response: [200, StoredExport],
      run: async ({ caller, params }) => await storedExports.get(caller, params.id),
    }),
    endpoint({
      method: 'get',
      path: '/api/session-exports/{id}/download',
      summary: 'Downloads a stored export of sessions, for 24 hours',
      access: { scope: 'read' },
      params,
      response: [200],
      media: ['text/csv', 'application/json'],
      download: SessionList,
      errors: { 409: { export_not_ready: 'when the export is running, or has failed' } },
      run: async ({ caller, params, http }) => {
        const { content, format, bytes, createdAt } = await storedExports.download(caller, params.id)
        http.set('Content-Type', format === 'csv' ? csvExport(caller).mediaType : jsonExport.mediaType)
        http.set('Content-Length', String(bytes))
        http.set(
          'Content-Disposition',
          `attachment; filename="sessions-${createdAt.toISOString().slice(0, 10)}.${format}"`,
        )
        http.set('Cache-Control', 'no-store')
        http.body = content
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/session-exports/{id}',
      summary: 'Cancels or deletes an export of sessions',
      access: { scope: 'read' },
      params,
      response: [204],
      run: async ({ caller, params }) => await storedExports.remove(caller.userId, params.id),
    }),
  ]
}
