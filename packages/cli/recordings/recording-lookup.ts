import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { findUnique, isFullId } from '../ids.ts'

type Recording = Schemas['Recording']

/** Size of one page. With more recordings, a prefix may also match one outside the page. */
const LOOKUP_LIMIT = 100

/** Returns a recording by its id or that of its session, or a prefix of either. */
export async function findRecording(cli: Context, idOrPrefix: string): Promise<Recording> {
  if (isFullId(idOrPrefix)) return await byFullId(cli, idOrPrefix.toLowerCase())
  const query = { limit: LOOKUP_LIMIT }
  const { recordings, next_cursor } = await answerOf(cli.rest.GET('/api/recordings', { params: { query } }))
  const candidates = recordings.flatMap((recording) => [
    { id: recording.id, recording },
    { id: recording.session_id, recording },
  ])
  const { recording } = findUnique(candidates, idOrPrefix, 'recording', 'recordings list')
  if (next_cursor === null) return recording
  throw new Failure(
    'usage',
    `You have more than ${LOOKUP_LIMIT} recordings. Type the full id, such as ${recording.id}`,
  )
}

async function byFullId(cli: Context, id: string): Promise<Recording> {
  const params = { path: { id } }
  const found =
    (await unlessMissing(answerOf(cli.rest.GET('/api/recordings/{id}', { params })))) ??
    (await unlessMissing(answerOf(cli.rest.GET('/api/sessions/{id}/recording', { params }))))
  if (found) return found
  throw new Failure('not_found', `No recording and no recorded session has the id ${id}.`)
}

async function unlessMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return undefined
    throw cause
  }
}
