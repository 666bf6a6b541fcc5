import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gapTexts } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { downloadFile, type PartFile } from './lib/download.ts'
import { unlessMissing } from './lib/errors.ts'
import { Failure } from './lib/failure.ts'
import { findUnique, idOf, isFullId, robotId } from './lib/ids.ts'
import { integer } from './lib/options.ts'
import type { Column, Output } from './lib/output.ts'
import { createTransferProgress } from './lib/progress.ts'
import { styled } from './lib/text.ts'
import { formatBytes, formatDuration, formatTime, statusPiece } from './lib/views.ts'

const RECORDING = 'its id or that of its session, or a prefix of the id'
const SHARE = 'id of the link, or a prefix of the id'
const ROBOT = 'its id, a prefix of the id, or its name'
const MAX_SHARE_HOURS = 2_160

export const commands = { recordings: declareRecordings }

/** Declares `wheelhouse recordings …`. */
function declareRecordings(recordings: Command, action: CreateAction): void {
  const recording = (name: string, description: string) =>
    recordings.command(name).description(description).argument('<recording>', RECORDING)
  recordings
    .command('list')
    .description('list the recordings of your robots and of sessions that you operated, newest first')
    .option('--robot <robot>', `only recordings of this robot: ${ROBOT}`)
    .option('--limit <number>', 'largest number of recordings', integer(1, 10_000), 50)
    .action(action(list))
  recording('show', 'show a recording with its topics and gaps').action(action(show))
  recording('download', 'download a recording as an MCAP file; continues an interrupted download')
    .option('-o, --output <file>', 'write to this file or folder (default: a name from robot and time)', '.')
    .option('--force', 'replace an existing file')
    .action(action(download))
  recording('downloads', 'list who has read a recording, newest first').action(action(downloads))
  recording('delete', 'delete a recording and its files, as the owner of the robot').action(action(remove))
  recording(
    'share',
    'create a link with which anyone can replay and download a recording; the link is shown only once',
  )
    .option('--hours <number>', 'hours until the link expires', integer(1, MAX_SHARE_HOURS), 72)
    .action(action(share))
  recording('shares', 'list the links of a recording').action(action(shares))
  recording('unshare', 'revoke a link of a recording').argument('<share>', SHARE).action(action(unshare))
}

const PAGE = 100

/** Prints the recordings of the caller's robots and sessions, and how much of the quota they take. */
async function list(
  cli: Context,
  { robot, limit }: { readonly robot?: string; readonly limit: number },
): Promise<void> {
  const filter = robot === undefined ? {} : { robot_id: await robotId(cli, robot) }
  const found: Schemas['Recording'][] = []
  let cursor: string | undefined
  let used = ''
  do {
    const query = {
      ...filter,
      ...(cursor !== undefined && { cursor }),
      limit: Math.min(PAGE, limit - found.length),
    }
    const page = await answerOf(cli.rest.GET('/api/recordings', { params: { query } }))
    found.push(...page.recordings)
    cursor = page.next_cursor ?? undefined
    const quota = page.quota_bytes === null ? '' : ` of ${formatBytes(page.quota_bytes)}`
    used = page.used_bytes > 0 ? `Your recordings take ${formatBytes(page.used_bytes)}${quota}.` : ''
  } while (cursor !== undefined && found.length < limit)
  cli.out.list(
    found,
    recordingColumns,
    'No recordings. Record a robot with: wheelhouse robots update --recording',
  )
  if (used) cli.out.note(used)
}

/** Prints one recording with its topics and gaps. */
async function show(cli: Context, idOrPrefix: string): Promise<void> {
  const recording = await findRecording(cli, idOrPrefix)
  cli.out.result(recording, () => showRecording(cli.out, recording))
}

/** The first and the last bytes of every MCAP file. */
const MAGIC = Buffer.from('\x89MCAP0\r\n', 'latin1')

const unfinishedTexts: Partial<Record<Recording['status'], string>> = {
  RECORDING: 'Its session is still recorded. Download it when the session has ended.',
  FINISHING: 'The platform is still writing its file. Try again in a moment.',
  FAILED: 'The platform could not finish it, so it has no file.',
}

/** Downloads a recording as an MCAP file. */
async function download(
  cli: Context,
  idOrPrefix: string,
  { output, force = false }: { readonly output: string; readonly force?: boolean },
): Promise<void> {
  const recording = await findRecording(cli, idOrPrefix)
  const { id, status, file_url, size_bytes } = recording
  if (file_url === null)
    throw new Failure('conflict', `The recording has no file. ${unfinishedTexts[status] ?? ''}`.trim())
  const target = await targetOf(output, recording)
  const progress = createTransferProgress(cli, size_bytes, { label: 'recording' })
  try {
    await downloadFile(cli, {
      url: file_url,
      target,
      sizeBytes: size_bytes,
      version: id,
      isIntact,
      overwrites: force,
      onProgress: progress.update,
    })
  } finally {
    progress.close()
  }
  if (cli.out.json) cli.out.document({ id, path: target, bytes: size_bytes })
  else cli.out.note(`Recording written to ${target}, ${formatBytes(size_bytes)}`)
}

/** Returns the path of the file. In a folder, it has the name that browsers give it. */
async function targetOf(output: string, { robot_name, started_at }: Recording): Promise<string> {
  const path = resolve(output)
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return path
  // Characters that file systems reject or that lead to another folder.
  const robot = robot_name.replaceAll(/[\p{Cc}\p{Cf}<>:"/\\|?*]/gu, '_').replace(/^[. ]+/, '_')
  return join(path, `${robot} ${started_at.slice(0, 19).replaceAll(':', '-')}.mcap`)
}

async function isIntact({ handle, bytes }: PartFile): Promise<boolean> {
  for (const position of [0, bytes - MAGIC.length]) {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(MAGIC.length),
      0,
      MAGIC.length,
      Math.max(0, position),
    )
    if (bytesRead !== MAGIC.length || !buffer.equals(MAGIC)) return false
  }
  return true
}

const kindTexts = {
  file: 'file',
  replay: 'replay',
  export: 'export of a dataset',
  foxglove: 'Foxglove',
} as const

/** Prints who has read a recording. */
async function downloads(cli: Context, idOrPrefix: string): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const { downloads } = await answerOf(
    cli.rest.GET('/api/recordings/{id}/downloads', { params: { path: { id } } }),
  )
  cli.out.list(
    downloads,
    [
      { title: 'WHEN', value: ({ at }) => formatTime(at) },
      { title: 'HOW', value: ({ kind }) => kindTexts[kind] },
      { title: 'WHO', value: ({ user_name, share_id }) => (share_id === null ? user_name : 'with a link') },
      { title: 'USER', value: ({ user_id }) => user_id, noTruncate: true },
      { title: 'LINK', value: ({ share_id }) => share_id, noTruncate: true },
    ],
    'No user has read it yet.',
  )
}

/** Deletes a recording. */
async function remove(cli: Context, idOrPrefix: string): Promise<void> {
  const { id, robot_name, started_at } = await findRecording(cli, idOrPrefix)
  await cli.prompts.confirm(
    `Delete the recording of ${robot_name} from ${formatTime(started_at)} (${id})? That cannot be undone.`,
  )
  await answerOf(cli.rest.DELETE('/api/recordings/{id}', { params: { path: { id } } }))
  cli.out.result({ id, deleted: true }, () => cli.out.line(`The recording ${id} is deleted.`))
}

/** Creates a link to a recording. Standard output contains only the link, so that you can pipe it. */
async function share(cli: Context, idOrPrefix: string, { hours }: { hours: number }): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const body = { expires_in_hours: hours }
  const share = await answerOf(
    cli.rest.POST('/api/recordings/{id}/shares', { params: { path: { id } }, body }),
  )
  cli.out.result(share, () => {
    const until = formatTime(share.expires_at)
    cli.out.note(
      styled('bold', `Anyone with this link can replay the recording until ${until}. It is shown only once:`),
    )
    cli.out.line(share.url)
  })
}

/** Prints the links of a recording. */
async function shares(cli: Context, idOrPrefix: string): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const { shares } = await answerOf(cli.rest.GET('/api/recordings/{id}/shares', { params: { path: { id } } }))
  cli.out.list(
    shares,
    [
      { title: 'ID', value: (share) => share.id, noTruncate: true },
      { title: 'STATE', value: stateOf },
      { title: 'CREATED', value: ({ created_at }) => formatTime(created_at) },
      { title: 'EXPIRES', value: ({ expires_at }) => formatTime(expires_at) },
    ],
    'No links. Create one with: wheelhouse recordings share',
  )
}

function stateOf({ revoked_at, expires_at }: Schemas['RecordingShare']): string {
  if (revoked_at !== null) return 'revoked'
  return Date.parse(expires_at) > Date.now() ? 'valid' : 'expired'
}

/** Revokes a link of a recording. */
async function unshare(cli: Context, idOrPrefix: string, shareIdOrPrefix: string): Promise<void> {
  const { id } = await findRecording(cli, idOrPrefix)
  const share = await shareId(cli, id, shareIdOrPrefix)
  const params = { path: { id, share } }
  await answerOf(cli.rest.DELETE('/api/recordings/{id}/shares/{share}', { params }))
  cli.out.result({ id: share, revoked: true }, () => cli.out.line(`The link ${share} is revoked.`))
}

async function shareId(cli: Context, id: string, idOrPrefix: string): Promise<string> {
  return await idOf(idOrPrefix, 'link', `recordings shares ${id}`, async () => {
    const { shares } = await answerOf(
      cli.rest.GET('/api/recordings/{id}/shares', { params: { path: { id } } }),
    )
    return shares
  })
}

/** Size of one page. With more recordings, a prefix may also match one outside the page. */
const LOOKUP_LIMIT = 100

/** Returns a recording by its id or that of its session, or a prefix of either. */
async function findRecording(cli: Context, idOrPrefix: string): Promise<Recording> {
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

type Recording = Schemas['Recording']

/** Returns the length of a recording; undefined while it lasts. */
const lengthOf = ({ started_at, ended_at }: Recording) =>
  ended_at === null ? undefined : formatDuration(started_at, ended_at)

const recordingColumns: readonly Column<Recording>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'SESSION', value: ({ session_id }) => session_id, noTruncate: true },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'ROBOT', value: ({ robot_name }) => robot_name },
  { title: 'MODE', value: ({ mode }) => mode },
  { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
  { title: 'LENGTH', value: lengthOf, right: true },
  { title: 'SIZE', value: ({ size_bytes }) => formatBytes(size_bytes), right: true },
  { title: 'GAPS', value: ({ gaps }) => gaps.length, right: true },
]

/** Returns the text of why a recording is interrupted, or lacks a period. */
const reasonOf = (reason: string): string =>
  reason === 'off' ? 'the owner has turned it off' : ((gapTexts as Record<string, string>)[reason] ?? reason)

function showRecording(out: Output, recording: Recording): void {
  const { paused_reason, expires_at, gaps, channels } = recording
  out.record([
    ['Id', recording.id],
    ['Status', statusPiece(recording.status)],
    ['Interrupted', paused_reason === null ? undefined : reasonOf(paused_reason)],
    ['Session', recording.session_id],
    ['Robot', recording.robot_name],
    ['Robot id', recording.robot_id],
    ['Mode', recording.mode],
    ['Started', formatTime(recording.started_at)],
    ['Ended', formatTime(recording.ended_at)],
    ['Length', lengthOf(recording)],
    ['Size', formatBytes(recording.size_bytes)],
    ['Deleted at', expires_at === null ? 'never' : formatTime(expires_at)],
    ['Gaps', gaps.length === 0 ? 'none' : gaps.length],
  ])
  if (channels.length > 0) {
    out.line()
    out.table(channels, [
      { title: 'TOPIC', value: ({ topic }) => topic },
      { title: 'SCHEMA', value: ({ schema }) => schema },
      { title: 'MESSAGES', value: ({ messages }) => messages, right: true },
    ])
  }
  if (gaps.length > 0) {
    out.line()
    out.table(gaps, [
      { title: 'GAP FROM', value: ({ from }) => from },
      { title: 'LENGTH', value: ({ from, to }) => formatDuration(from, to), right: true },
      { title: 'REASON', value: ({ reason }) => reasonOf(reason) },
    ])
  }
}
