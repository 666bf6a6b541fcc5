import type { Context } from 'koa'
import { z } from 'zod'
import { conflict } from '../../core/errors/errors.ts'
import { type AdmitDownload, credentialOfCaller, type Downloads } from '../../core/http/downloads.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { objectErrors, objectResponses, sendObject } from '../../core/http/send-object.ts'
import type { Log } from '../../core/log.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { ListRecordings, RecordingList, RecordingParts, RecordingView } from './recording.schema.ts'
import type { RecordingRow } from './recording.view.ts'
import { SegmentParams } from './recording-access.schema.ts'
import type { RecordingAccess } from './recording-access.service.ts'
import type { Recordings } from './recordings.service.ts'

export interface RecordingRouteDeps {
  readonly recordings: Recordings
  readonly recordingAccess: RecordingAccess
  readonly store: ObjectStore
  readonly downloads: Downloads
  readonly log: Log
}

const MCAP = 'application/mcap'
const notFoundErrors = {
  404: { not_found: 'when the recording does not exist, or you have no part in its session' },
} as const
export const fileErrors = {
  ...objectErrors,
  409: { recording_not_ready: 'when the recording is not one file yet' },
} as const

/** Notes a read of a recording. */
type NoteRead = (recordingId: string) => Promise<void>

/** Sends the file of a recording. @throws 409 while it is not finished */
export async function sendRecording(
  http: Context,
  row: RecordingRow,
  deps: Pick<RecordingRouteDeps, 'store' | 'log'> & {
    readonly note: NoteRead
    readonly admit: AdmitDownload
    readonly redirectSeconds?: number
  },
) {
  if (row.file_key === null)
    throw conflict(
      'recording_not_ready',
      row.status === 'FAILED'
        ? 'The recording has no file, because it could not be finished. Read its parts instead.'
        : 'The recording has no file yet. Try again some seconds after the end of its session, or read its parts now.',
    )
  if (http.method === 'GET') await deps.note(row.id)
  const day = row.started_at.toISOString().slice(0, 19).replaceAll(':', '-')
  await sendObject(http, deps.store, row.file_key, {
    contentType: MCAP,
    fileName: `${row.robot_name} ${day}.mcap`,
    redirect: true,
    admit: deps.admit,
    ...(deps.redirectSeconds && { redirectSeconds: deps.redirectSeconds }),
    onReadError: (cause) =>
      deps.log.warn({ err: cause, recordingId: row.id }, 'a download of a recording ended early'),
  })
}

/** Returns the routes of recordings. */
export function recordingEndpoints(deps: RecordingRouteDeps): Endpoint[] {
  return [...viewEndpoints(deps), ...contentEndpoints(deps)]
}

function viewEndpoints({ recordings }: RecordingRouteDeps): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/recordings',
      list: true,
      summary: 'Lists the recordings of your robots and of the sessions that you operated, newest first',
      access: {},
      query: ListRecordings,
      response: [200, RecordingList],
      run: async ({ caller, query }) => await recordings.list(caller, query),
    }),
    endpoint({
      method: 'get',
      path: '/api/recordings/{id}',
      summary: 'Shows a recording',
      access: {},
      params: idParams('recording'),
      response: [200, RecordingView],
      errors: notFoundErrors,
      run: async ({ caller, params }) => await recordings.get(caller, params.id),
    }),
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}/recording',
      summary: 'Shows the recording of a session',
      access: {},
      params: idParams('session'),
      response: [200, RecordingView],
      errors: {
        404: { not_found: 'when the session is not recorded, does not exist, or you have no part in it' },
      },
      run: async ({ caller, params }) => await recordings.ofSession(caller, params.id),
    }),
    endpoint({
      method: 'delete',
      path: '/api/recordings/{id}',
      summary: 'Deletes a recording and its files',
      access: { scope: 'robots' },
      params: idParams('recording'),
      response: [204],
      errors: {
        ...notFoundErrors,
        409: { recording_in_progress: 'when the session is still recorded' },
      },
      run: async ({ caller, params }) => await recordings.remove(caller, params.id),
    }),
  ]
}

function contentEndpoints(deps: RecordingRouteDeps): Endpoint[] {
  const { recordings, recordingAccess, downloads } = deps
  const admitOf = (caller: Caller) => downloads.admit(credentialOfCaller(caller))
  const noteOf =
    ({ userId }: Caller, kind: 'file' | 'replay'): NoteRead =>
    (id) =>
      recordingAccess.noteDownload(id, { userId }, kind)
  return [
    endpoint({
      method: 'get',
      path: '/api/recordings/{id}/parts',
      summary:
        'Lists what of a recording can be read now: complete MCAP files, also while the session is open',
      access: {},
      params: idParams('recording'),
      response: [200, RecordingParts],
      errors: notFoundErrors,
      run: async ({ caller, params }) => {
        const row = await recordings.findReadable(caller, params.id)
        await noteOf(caller, 'replay')(row.id)
        return await recordings.parts(row, `/api/recordings/${row.id}`)
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/recordings/{id}/file',
      summary: 'Downloads a recording as an MCAP file',
      access: {},
      params: idParams('recording'),
      query: z.strictObject({
        purpose: z
          .enum(['download', 'replay'])
          .default('download')
          .meta({ description: 'The purpose, as the list of downloads shows it.' }),
      }),
      response: [200],
      media: [MCAP],
      otherResponses: objectResponses,
      errors: fileErrors,
      run: async ({ caller, params, query, http }) => {
        const row = await recordings.findReadable(caller, params.id)
        const note = noteOf(caller, query.purpose === 'replay' ? 'replay' : 'file')
        await sendRecording(http, row, { ...deps, note, admit: admitOf(caller) })
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/recordings/{id}/segments/{stream}/{number}',
      summary: 'Downloads a part of a recording that is not finished, as an MCAP file',
      access: {},
      params: SegmentParams,
      response: [200],
      media: [MCAP],
      otherResponses: objectResponses,
      errors: objectErrors,
      run: async ({ caller, params, http }) => {
        const row = await recordings.findReadable(caller, params.id)
        await sendSegment(http, row, params, {
          ...deps,
          note: noteOf(caller, 'replay'),
          admit: admitOf(caller),
        })
      },
    }),
  ]
}

/** Sends a stored segment. It never changes, so that clients may keep it. */
export async function sendSegment(
  http: Context,
  row: RecordingRow,
  params: { stream: string; number: string },
  deps: Pick<RecordingRouteDeps, 'recordings' | 'store' | 'log'> & {
    readonly note: NoteRead
    readonly admit: AdmitDownload
  },
): Promise<void> {
  const { recordings, store, log, note, admit } = deps
  const segment = await recordings.segment(row.id, params.stream, Number(params.number))
  if (http.method === 'GET') await note(row.id)
  await sendObject(http, store, segment.object_key, {
    contentType: MCAP,
    fileName: `${params.stream}-${params.number}.mcap`,
    etag: `"${segment.sha256}"`,
    cacheControl: 'private, max-age=3600',
    admit,
    onReadError: (cause) =>
      log.warn({ err: cause, recordingId: row.id }, 'a download of a recording ended early'),
  })
}
