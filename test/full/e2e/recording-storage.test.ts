import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cannotMount, withSmallDisk } from '../../support/processes/mounted-folders.ts'
import {
  createSplitPlatform,
  driveRecorded,
  expectComplete,
} from '../../support/recordings/recorded-drive.ts'
import { startS3Server } from '../../support/storage/s3-server.ts'
import { waitFor } from '../../support/world/wait.ts'

const ALL_ROLES = 'api,hub,gateway,worker,recorder'
/** The platform leaves 500 MB of a disk free. */
const DISK = '520m'
const FILLER_BYTES = 60_000_000
const GIGABYTE = 1_000_000_000

type Session = Awaited<ReturnType<typeof driveRecorded>>

/** Settles when the last entry of the log about the recording is this one. */
const noted = (session: Session, type: string, reason?: string) =>
  waitFor(async () =>
    expect((await session.notes()).at(-1)).toMatchObject({ type, data: reason ? { reason } : {} }),
  )

test('S3 unavailable: the session shows it, driving continues, and no record is lost when S3 is back', async () => {
  await using s3 = await startS3Server()
  const { bucket, endpoint, credentials } = s3.settings()
  const env = {
    S3_BUCKET: bucket,
    S3_ENDPOINT: String(endpoint),
    S3_ACCESS_KEY_ID: String(credentials?.accessKeyId),
    S3_SECRET_ACCESS_KEY: String(credentials?.secretAccessKey),
  }
  await using platform = await createSplitPlatform({ roles: ALL_ROLES, env })
  const session = await driveRecorded(platform, platform.gatewayUrl)
  await waitFor(async () => expect(await session.acknowledgedMs()).toBeGreaterThan(0))
  await s3.kill()
  await noted(session, 'recording.paused', 'storage_unavailable')
  expect((await platform.owner.get(`/api/sessions/${session.sessionId}/recording`)).body).toMatchObject({
    status: 'RECORDING',
    paused_reason: 'storage_unavailable',
  })
  await session.obeyed(100)
  await s3.restart()
  await noted(session, 'recording.resumed')
  await session.obeyed(100)
  await session.end()
  const { recording, mcap } = await session.finished()
  expect(recording.gaps).toEqual([])
  expect(expectComplete(mcap, recording.gaps, session, Date.now())).toBe(0)
})

test.skipIf(cannotMount)(
  'a full disk: the session shows it at once, and nothing is lost when there is room',
  async () => {
    await using platform = await createSplitPlatform({
      roles: ALL_ROLES,
      // The mount is visible to the process only.
      wrapper: (dataDir) => withSmallDisk(dataDir, DISK),
    })
    const session = await driveRecorded(platform, platform.gatewayUrl)
    const filler = join(`/proc/${platform.main.pid}/root`, platform.dataDir, 'filler')
    await writeFile(filler, Buffer.alloc(FILLER_BYTES))
    await noted(session, 'recording.paused', 'storage_full')
    await session.obeyed(100)
    await rm(filler)
    await noted(session, 'recording.resumed')
    await session.end()
    const { recording, mcap } = await session.finished()
    expect(expectComplete(mcap, recording.gaps, session, Date.now())).toBe(0)
  },
)

test('the quota of an account: recording pauses with an entry in the log, and driving continues', async () => {
  await using platform = await createSplitPlatform({ roles: ALL_ROLES, env: { RECORDING_QUOTA_GB: '1' } })
  const full = await driveRecorded(platform, platform.gatewayUrl)
  await full.obeyed(10)
  await full.end()
  await full.finished()
  const resize = (bytes: number) =>
    platform.query(`update recordings set size_bytes = ${bytes} where session_id = '${full.sessionId}'`)
  await resize(GIGABYTE - 1)
  const session = await driveRecorded(platform, platform.gatewayUrl)
  await noted(session, 'recording.paused', 'quota_exceeded')
  const acknowledged = await session.acknowledgedMs()
  await session.obeyed(100)
  await resize(1)
  await noted(session, 'recording.resumed')
  await session.obeyed(100)
  await session.end()
  const { recording, mcap } = await session.finished()
  expect(expectComplete(mcap, recording.gaps, session, acknowledged)).toBeGreaterThan(100)
  expect(recording.gaps).toMatchObject([{ reason: 'quota_exceeded' }])

  await resize(GIGABYTE)
  const refused = await driveRecorded(platform, platform.gatewayUrl)
  await noted(refused, 'recording.paused', 'quota_exceeded')
  expect(await refused.notes()).toHaveLength(1)
  await refused.obeyed(50)
  await refused.end()
})
