import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { atCommandLine } from '../../support/cli/cli-world.ts'
import { cli, startInProcess } from '../../support/cli/in-process.ts'
import { type CliUser, cliProcess, createCliUser, endCommands, startCli } from '../../support/cli/terminal.ts'
import { listening } from '../../support/network/listening.ts'
import { timesAt } from '../../support/recordings/mcap-fixtures.ts'
import { recordEpisodes } from '../../support/recordings/recorded-episodes.ts'
import { readMcap } from '../../support/recordings/recording-fixture.ts'
import { startS3Server } from '../../support/storage/s3-server.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

afterAll(endCommands)

const ID = '6e2f9b40-81d5-4c7a-b396-f04a7d1e58c2'
const MAGIC = Buffer.from('\x89MCAP0\r\n', 'latin1')
const CONTENT = Buffer.concat([MAGIC, randomBytes(3_000_000), MAGIC])
const ETAG = '"a1"'
const RANGE = expect.stringMatching(/^bytes=[1-9]\d*-$/)

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const recording = {
  id: ID,
  session_id: ID,
  robot_id: ID,
  robot_name: 'Ronja',
  mode: 'control',
  status: 'READY',
  paused_reason: null,
  started_at: '2026-11-20T09:00:00.000Z',
  ended_at: '2026-11-20T10:00:00.000Z',
  expires_at: null,
  size_bytes: CONTENT.length,
  segments: 1,
  gaps: [],
  channels: [],
  file_url: `/api/recordings/${ID}/file`,
}

async function serve(answer: Answer) {
  const requests: IncomingMessage[] = []
  const server = await listening((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { url: server.url, requests }
}

/** Starts a platform with one recording, whose file `answer` sends, and a user of it. */
async function createPlatform(
  answer: Answer,
  changes: Partial<Record<keyof typeof recording, unknown>> = {},
) {
  const view = JSON.stringify({ ...recording, ...changes })
  const files: IncomingMessage[] = []
  const { url } = await serve((request, response) => {
    if (request.url?.endsWith('/file')) {
      files.push(request)
      return answer(request, response)
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(view)
  })
  const user = await createCliUser({ WHEELHOUSE_URL: url, WHEELHOUSE_API_KEY: 'svc_live_any' })
  const folder = join(user.configHome, 'files')
  await mkdir(folder)
  const file = join(folder, 'a.mcap')
  return {
    user,
    folder,
    file,
    /** Requests of the file. */
    files,
    rangesOf: () => files.map(({ headers }) => headers.range),
    download: (...more: string[]) => cli(user, ['recordings', 'download', ID, '-o', file, ...more]),
  }
}

/** Sends the file, or the part of it that the request names. */
const sendFile: Answer = ({ headers }, response) => {
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? []
  if (from === undefined || (headers['if-range'] ?? ETAG) !== ETAG) {
    response.writeHead(200, { ETag: ETAG, 'Content-Length': CONTENT.length }).end(CONTENT)
    return
  }
  response.writeHead(206, {
    ETag: ETAG,
    'Content-Range': `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}`,
    'Content-Length': CONTENT.length - Number(from),
  })
  response.end(CONTENT.subarray(Number(from)))
}

/** Sends the beginning of the file and closes the connection, for the first requests. */
function breaking(times: number, bytes: number, then: Answer = sendFile): Answer {
  let count = 0
  return (request, response) => {
    if (count++ >= times) return then(request, response)
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const headers = { ETag: ETAG, 'Content-Length': CONTENT.length - from }
    const range = { 'Content-Range': `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` }
    response.writeHead(from > 0 ? 206 : 200, { ...headers, ...(from > 0 && range) })
    response.write(CONTENT.subarray(from, from + bytes), () => setTimeout(() => response.destroy(), 50))
  }
}

test('downloads a recording from S3', async () => {
  await using s3 = await startS3Server()
  const { bucket, endpoint, credentials } = s3.settings()
  const env = {
    S3_BUCKET: bucket,
    S3_ENDPOINT: String(endpoint),
    S3_ACCESS_KEY_ID: String(credentials?.accessKeyId),
    S3_SECRET_ACCESS_KEY: String(credentials?.secretAccessKey),
  }
  await using world = await createWorld({ env })
  const owner = await world.client()
  const control = timesAt(50, 20_000).map((atMs) => ({ atMs, data: { linear: atMs } }))
  const startMs = Date.parse('2026-11-20T09:00:00Z')
  const robot = await world.robot(owner)
  const { recordingId } = await recordEpisodes(world, owner, robot.id, { startMs, control }, [])
  const user = await atCommandLine(world, owner)
  const file = join(user.configHome, 'a.mcap')
  const { json, stderr } = await cli(user, ['recordings', 'download', recordingId, '-o', file, '--json'])
  expect(stderr).toBe('')
  const mcap = await readMcap(await readFile(json.path))
  expect(mcap.of('/control')).toHaveLength(1_000)
})

describe('wheelhouse recordings download', () => {
  test('follows a redirect to the storage without the credential', async () => {
    const storage = await serve(sendFile)
    const { download, file, files } = await createPlatform((_, response) => {
      response.writeHead(302, { Location: `${storage.url}/bucket/key?X-Amz-Signature=abc` }).end()
    })
    const { code, json } = await download('--json')
    expect([code, json]).toEqual([0, { id: ID, path: file, bytes: CONTENT.length }])
    expect((await readFile(file)).equals(CONTENT)).toBe(true)
    expect(files[0]?.headers.authorization).toBe('Bearer svc_live_any')
    expect(storage.requests).toHaveLength(1)
    expect(storage.requests[0]?.url).toBe('/bucket/key?X-Amz-Signature=abc')
    expect(storage.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(storage.requests[0]?.headers).not.toHaveProperty('cookie')
  })

  test('asks the platform for another address when that of the storage has expired', async () => {
    let count = 0
    const storage = await serve((request, response) =>
      count++ === 0 ? response.writeHead(403).end('<Error/>') : sendFile(request, response),
    )
    const { download, file, files } = await createPlatform((_, response) => {
      response.writeHead(302, { Location: `${storage.url}/key` }).end()
    })
    expect((await download()).code).toBe(0)
    expect(files).toHaveLength(2)
    expect((await readFile(file)).equals(CONTENT)).toBe(true)
  })

  test('does not send the credential to an address of another site that the platform names', async () => {
    const other = await serve(sendFile)
    const { download, folder } = await createPlatform(sendFile, { file_url: `${other.url}/file` })
    const { code, stderr } = await download()
    expect([code, other.requests.length, await readdir(folder)]).toEqual([1, 0, []])
    expect(stderr).toContain('does not get the credential')
  })

  test('rejects redirects in circles, and to other protocols', async () => {
    const circle = await createPlatform(({ url }, response) => {
      response.writeHead(302, { Location: url }).end()
    })
    const local = await createPlatform((_, response) => {
      response.writeHead(302, { Location: 'file:///etc/passwd' }).end()
    })
    const results = await Promise.all([circle.download(), local.download()])
    expect(results.map(({ code }) => code)).toEqual([1, 1])
    expect(await readdir(local.folder)).toEqual([])
  })

  test('continues after a broken connection', async () => {
    const { download, file, folder, files, rangesOf } = await createPlatform(breaking(2, 100_000))
    expect((await download()).code).toBe(0)
    expect((await readFile(file)).equals(CONTENT)).toBe(true)
    expect(await readdir(folder)).toEqual(['a.mcap'])
    // On a busy machine, the end of the connection arrives before the last bytes are read.
    const [none, first, second] = rangesOf()
    expect([none, first, second]).toEqual([undefined, RANGE, RANGE])
    expect(Number(second?.slice(6, -1))).toBeGreaterThan(Number(first?.slice(6, -1)))
    expect(files[2]?.headers['if-range']).toBe(ETAG)
  })

  test('continues after Ctrl-C with the same command', async () => {
    let isSilent = true
    const { user, file, folder, rangesOf, download } = await createPlatform((request, response) => {
      if (!isSilent) return sendFile(request, response)
      response.writeHead(200, { ETag: ETAG, 'Content-Length': CONTENT.length })
      response.write(CONTENT.subarray(0, 50_000)) // and nothing more
    })
    const running = startCli(user, ['recordings', 'download', ID, '-o', file])
    const part = `a.mcap.${ID.slice(0, 12)}.part`
    await waitFor(async () => expect(await readFile(join(folder, part))).toHaveLength(50_000))
    running.signal('SIGINT')
    const { code, stderr } = await running.ended
    expect([code, stderr]).toEqual([130, expect.stringContaining('The same command continues')])
    expect(await readdir(folder)).toEqual([part])
    isSilent = false
    expect((await download()).code).toBe(0)
    expect(rangesOf()).toEqual([undefined, 'bytes=50000-'])
    expect((await readFile(file)).equals(CONTENT)).toBe(true)
    expect(await readdir(folder)).toEqual(['a.mcap'])
  })

  test('begins again when the server ignores the range', async () => {
    const whole: Answer = (_, response) => response.writeHead(200).end(CONTENT)
    const { download, file, rangesOf } = await createPlatform(breaking(1, 100_000, whole))
    expect((await download()).code).toBe(0)
    expect(rangesOf()).toEqual([undefined, RANGE])
    expect((await readFile(file)).equals(CONTENT)).toBe(true)
  })

  test('gives up after several failures in a row, and keeps what has arrived', async () => {
    const broken: Answer = (_, response) => void response.destroy()
    const { download, folder } = await createPlatform(breaking(1, 100_000, broken))
    const { code, stderr } = await download()
    expect([code, stderr]).toEqual([6, expect.stringContaining('continues the download')])
    expect(await readdir(folder)).toEqual([expect.stringMatching(/\.part$/)])
  })

  test.each([
    [
      'a shorter file',
      (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200, { 'Content-Length': MAGIC.length }).end(MAGIC),
    ],
    [
      'a longer file',
      (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200).end(Buffer.concat([CONTENT, MAGIC])),
    ],
    [
      'a file without its end',
      (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200).end(Buffer.concat([MAGIC, Buffer.alloc(CONTENT.length - MAGIC.length)])),
    ],
  ])('does not take %s for the recording', async (_name, answer) => {
    const { download, file, folder } = await createPlatform(answer)
    await writeFile(file, 'old')
    expect((await download('--force')).code).not.toBe(0)
    expect(await readFile(file, 'utf8')).toBe('old')
    expect((await readdir(folder)).filter((name) => name.endsWith('.mcap'))).toEqual(['a.mcap'])
  })

  test('replaces an existing file only with --force', async () => {
    const { download, file, files } = await createPlatform(sendFile)
    await writeFile(file, 'old')
    const { code, stderr } = await download()
    expect([code, files.length]).toEqual([1, 0])
    expect(stderr).toContain('--force')
    expect(await readFile(file, 'utf8')).toBe('old')
    expect((await download('--force')).code).toBe(0)
    expect((await readFile(file)).equals(CONTENT)).toBe(true)
  })

  test('does not replace a file that appears during the download', async () => {
    const { download, file } = await createPlatform((request, response) => {
      void writeFile(file, 'new').then(() => sendFile(request, response))
    })
    expect((await download()).code).toBe(1)
    expect(await readFile(file, 'utf8')).toBe('new')
  })

  test('does not write through a link with the name of its part', async () => {
    const { download, folder } = await createPlatform(sendFile)
    await writeFile(join(folder, 'victim'), 'old')
    await symlink('victim', join(folder, `a.mcap.${ID.slice(0, 12)}.part`))
    expect((await download()).code).toBe(1)
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('old')
  })

  test('chooses a name in a folder, also for a robot with a strange one', async () => {
    const { user, folder } = await createPlatform(sendFile, { robot_name: '../../x\u0007:"arm"' })
    const { code } = await cli(user, ['recordings', 'download', ID, '-o', folder])
    expect([code, await readdir(folder)]).toEqual([0, ['__.._x___arm_ 2026-11-20T09-00-00.mcap']])
  })

  test.each([
    ['RECORDING', 'still recorded'],
    ['FINISHING', 'Try again in a moment'],
    ['FAILED', 'could not finish'],
  ])('says why a recording that is %s has no file', async (status, text) => {
    const { download, files } = await createPlatform(sendFile, { status, file_url: null })
    const { code, stderr } = await download()
    expect([code, files.length, stderr]).toEqual([5, 0, expect.stringContaining(text)])
  })

  test('shows the progress in a terminal only', async () => {
    const { user, file, download } = await createPlatform(sendFile)
    const screen = { columns: 120, rows: 30 }
    const shown = await startInProcess(user, ['recordings', 'download', ID, '-o', file], { screen }).ended
    expect(shown.stderr).toMatch(/of 2\.9 MiB/)
    expect(shown.stdout).toBe('')
    expect((await download('--force')).stderr).not.toMatch(/of 2\.9 MiB/)
    expect((await download('--force', '--json')).stderr).toBe('')
  })

  test('a file that cannot be written is one sentence', async () => {
    const { user } = await createPlatform(sendFile)
    const { code, stderr } = await cliProcess(user as CliUser, ['recordings', 'download', ID, '-o', '/no/a'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^wheelhouse: \/no\/a cannot be written \(ENOENT\)/),
    ])
  })
})
