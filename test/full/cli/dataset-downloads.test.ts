import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { cli } from '../../support/cli/in-process.ts'
import { createCliUser, endCommands } from '../../support/cli/terminal.ts'
import { listening } from '../../support/network/listening.ts'

afterAll(endCommands)

const ID = '6e2f9b40-81d5-4c7a-b396-f04a7d1e58c2'
const BASE = `/datasets/${ID}/cups/resolve/main`
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

/** Starts a platform with one exported dataset of these files, and a user of it. */
async function createPlatform(
  contents: Readonly<Record<string, Buffer>>,
  changes: { readonly status?: string; readonly sent?: (path: string, content: Buffer) => Buffer } = {},
) {
  const { status = 'READY', sent = (_path, content) => content } = changes
  const requested: string[] = []
  const server = await listening((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    const json = (body: unknown) =>
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
    if (path.startsWith('/api/client/datasets/exports/'))
      return json({ id: ID, name: 'cups', version: 2, status, base_url: BASE, error: 'no frames' })
    if (path === `/api/datasets/${ID}/cups/tree/v2?recursive=true`)
      return json([
        { type: 'directory', path: 'meta', oid: '', size: 0 },
        ...Object.entries(contents).map(([name, content]) => ({
          type: 'file',
          path: name,
          size: content.length,
          oid: sha256(content),
        })),
      ])
    const name = path.slice(BASE.replace('main', 'v2').length + 1)
    requested.push(name)
    const content = sent(name, contents[name] ?? Buffer.alloc(0))
    response.writeHead(200, { 'Content-Length': content.length, ETag: `"${sha256(content)}"` }).end(content)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const user = await createCliUser({ WHEELHOUSE_URL: server.url, WHEELHOUSE_API_KEY: 'svc_live_any' })
  const folder = join(user.configHome, 'cups')
  return {
    folder,
    requested,
    download: (...more: string[]) => cli(user, ['datasets', 'download-export', ID, '-o', folder, ...more]),
  }
}

const files = {
  'README.md': Buffer.from('# cups\n'),
  'meta/info.json': Buffer.from('{}'),
  'videos/observation.images.front cam/chunk-000/file-000.mp4': randomBytes(500_000),
  'data/empty': Buffer.alloc(0),
}

describe('wheelhouse datasets download-export', () => {
  test('writes all files of the version, and fetches only missing ones the next time', async () => {
    const { folder, requested, download } = await createPlatform(files)
    const { code, json } = await download('--json')
    expect([code, json]).toEqual([0, { id: ID, path: folder, files: 4, bytes: 500_009 }])
    for (const [name, content] of Object.entries(files))
      expect((await readFile(join(folder, name))).equals(content), name).toBe(true)
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.part'))).toEqual([])
    requested.length = 0
    expect((await download()).code).toBe(0)
    expect(requested).toEqual([])
  })

  test('removes a file whose SHA-256 is wrong', async () => {
    const { folder, download } = await createPlatform(files, {
      sent: (name, content) => (name.endsWith('.mp4') ? Buffer.alloc(content.length) : content),
    })
    const { code, stderr } = await download()
    expect([code, stderr]).toEqual([1, expect.stringMatching(/damaged/)])
    const names = await readdir(folder, { recursive: true })
    expect(names.filter((name) => /mp4|part/.test(name))).toEqual([])
    expect(names).toContain('README.md')
  })

  test('keeps a file with other content unless --force is given', async () => {
    const { folder, download } = await createPlatform(files)
    await mkdir(folder)
    await writeFile(join(folder, 'README.md'), 'mine')
    expect((await download()).code).toBe(1)
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('mine')
    expect((await download('--force')).code).toBe(0)
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('# cups\n')
  })

  test.each(['../evil', '/etc/evil', 'a/../../evil', 'a//b', 'a\\..\\evil', 'C:evil', 'a\u0000b', '.', ''])(
    'writes nothing when the platform names the file %j',
    async (name) => {
      const { folder, requested, download } = await createPlatform({
        a: Buffer.from('a'),
        [name]: Buffer.from('b'),
      })
      const { code, stderr } = await download()
      expect([code, stderr, requested]).toEqual([1, expect.stringContaining('written safely'), []])
      await expect(readdir(folder)).rejects.toThrow('ENOENT')
    },
  )

  test.each([
    ['RUNNING', 'not ready'],
    ['FAILED', 'no frames'],
  ])('says why an export that is %s has no files', async (status, text) => {
    const { requested, download } = await createPlatform(files, { status })
    const { code, stderr } = await download()
    expect([code, stderr, requested]).toEqual([5, expect.stringContaining(text), []])
  })
})
