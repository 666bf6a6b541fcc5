import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../../core/database/iso.ts'
import { StoredExportStatus } from '../../../core/exports/exports.ts'
import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { timestamp } from '../../../core/http/fields.ts'
import { ORGANIZATION_COOKIE, sessionCookieName, setCookie } from '../auth/session-cookie.ts'
import type { AccountDeletion } from './account-deletion.service.ts'
import type { DataExportRow, DataExports } from './data-export.service.ts'

const access = { sessionOnly: true } as const
const params = idParams('dataExport')
const count = z.number().int()

const DataExportView = z
  .object({
    id: idOf('dataExport'),
    status: StoredExportStatus,
    rows: count.meta({ description: 'Entries written so far.', examples: [4_821] }),
    bytes: count.meta({ description: 'Size so far, as downloaded.', examples: [964_200] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed; null unless FAILED.', examples: [null] }),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    expires_at: timestamp.meta({ description: 'When the platform deletes it.' }),
  })
  .meta({ id: 'DataExport', description: 'An export of what the platform holds about you.' })

/** The file of an export. */
const ExportedData = z
  .object({
    format: z.literal('wheelhouse-data-export'),
    version: z.literal(1),
    created_at: timestamp,
    parts: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))).meta({
      description: 'A list of entries for each part that docs/data.md describes.',
      examples: [{ avatar: [] }],
    }),
  })
  .meta({ id: 'ExportedData', description: 'Everything that the platform holds about a person.' })

const DeleteAccount = z
  .strictObject({
    confirm: z
      .string()
      .min(1)
      .max(320)
      .meta({
        description: 'Your e-mail address or your display name, in capital or small letters.',
        examples: ['ada@example.com'],
      }),
  })
  .meta({ id: 'AccountDeletion', description: 'The confirmation that you delete your account.' })

/** Returns the routes with which people download their data, and delete their accounts. */
export const accountLifeEndpoints = (deps: {
  readonly dataExports: DataExports
  readonly accountDeletion: AccountDeletion
  readonly baseUrl: string
}): Endpoint[] => [...exportEndpoints(deps), deletionEndpoint(deps)]

const exportEndpoints = ({ dataExports }: { readonly dataExports: DataExports }): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/api/auth/data-export',
    summary: 'Starts an export of everything that the platform holds about you',
    access,
    response: [202, DataExportView],
    example: { status: 'PENDING', rows: 0, bytes: 0, finished_at: null },
    errors: {
      409: { export_limit_reached: 'when an export is running, or three are stored' },
    },
    run: async ({ caller }) => view(await dataExports.create(caller.userId)),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/data-exports',
    list: true,
    summary: 'Lists the exports of your data, newest first',
    access,
    response: [200, z.object({ exports: z.array(DataExportView) })],
    run: async ({ caller }) => ({ exports: (await dataExports.list(caller.userId)).map(view) }),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/data-exports/{id}',
    summary: 'Shows an export of your data and its progress',
    access,
    params,
    response: [200, DataExportView],
    run: async ({ caller, params: { id } }) => view(await dataExports.get(caller.userId, id)),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/data-exports/{id}/download',
    summary: 'Downloads an export of your data as one JSON file, for 24 hours',
    access,
    params,
    response: [200],
    media: ['application/json'],
    download: ExportedData,
    errors: { 409: { export_not_ready: 'when the export is running, or has failed' } },
    run: async ({ caller, params: { id }, http }) => {
      const { row, content } = await dataExports.download(caller.userId, id)
      http.set({
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': String(row.bytes),
        'Content-Disposition': `attachment; filename="wheelhouse-data-${iso(row.created_at).slice(0, 10)}.json"`,
        'Cache-Control': 'no-store',
      })
      http.body = content
    },
  }),
]

const deletionEndpoint = ({
  accountDeletion,
  baseUrl,
}: {
  readonly accountDeletion: AccountDeletion
  readonly baseUrl: string
}): Endpoint =>
  endpoint({
    method: 'delete',
    path: '/api/auth/account',
    summary:
      'Deletes your account for good, with all credentials; records that the law demands keep a pseudonym',
    access,
    body: DeleteAccount,
    response: [204],
    errors: {
      409: {
        account_has_sessions: 'when you have open or scheduled sessions',
        account_has_robots: 'when your personal organization has robots',
        account_is_last_owner: 'when you are the last owner of an organization',
        account_has_invoices: 'when sessions are not invoiced, or invoices not paid',
        account_has_balance: 'when earnings are not paid out',
      },
    },
    run: async ({ caller, body, http }) => {
      await accountDeletion.remove(caller.userId, body.confirm)
      const gone = { maxAgeSeconds: 0, secure: baseUrl.startsWith('https:') }
      for (const name of [sessionCookieName(baseUrl), ORGANIZATION_COOKIE]) setCookie(http, name, '', gone)
    },
  })

const view = (row: DataExportRow): z.infer<typeof DataExportView> => ({
  id: row.id,
  status: row.status,
  rows: row.rows,
  bytes: row.bytes,
  error: row.error,
  created_at: iso(row.created_at),
  finished_at: iso(row.finished_at),
  expires_at: iso(row.expires_at),
})
