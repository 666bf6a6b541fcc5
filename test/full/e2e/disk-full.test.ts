import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  cannotMount,
  fillDisk,
  withReadOnly,
  withSmallDisk,
} from '../../support/processes/mounted-folders.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'

const settings = { DEMO: 'false', RATE_LIMIT_PUBLIC_PER_MINUTE: '0' }

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wheelhouse-disk-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Returns the error of a process that does not start. */
async function refusal(env: Record<string, string>, wrapper?: readonly string[]): Promise<string> {
  await using app = startWheelhouse({ ...settings, ...env }, wrapper)
  expect(await app.exited).toMatchObject({ code: 1 })
  return app.errorOutput.trim()
}
const notStarted = 'Wheelhouse did not start.\n'
const advice = 'set DATA_DIR to a directory that this user can write to.'

describe('DATA_DIR is refused in one sentence', () => {
  test('when it is a file, or lies under one', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    for (const path of [file, join(file, 'data')]) {
      const text = `${notStarted}DATA_DIR (${path}) is a file or lies under one: ${advice}`
      expect(await refusal({ DATA_DIR: path })).toBe(text)
    }
  })

  test.skipIf(cannotMount)('when it is read-only', async () => {
    const text = `${notStarted}DATA_DIR (${folder}) is on a read-only file system: ${advice}`
    expect(await refusal({ DATA_DIR: folder }, withReadOnly(folder))).toBe(text)
  })

  test.skipIf(cannotMount)('when its disk is full, or too small for the database', async () => {
    const text = `The disk of DATA_DIR (${folder}) is full: free some space, or set DATA_DIR to another disk.`
    expect(await refusal({ DATA_DIR: folder }, withSmallDisk(folder, '4k'))).toBe(notStarted + text)
    expect(await refusal({ DATA_DIR: folder }, withSmallDisk(folder, '20m'))).toBe(notStarted + text)
  })
})

describe('the disk of the embedded database', () => {
  test.skipIf(cannotMount)(
    'fills up: requests, metrics and readiness report it, until space is free again',
    async () => {
      await using app = startWheelhouse({ ...settings, DATA_DIR: folder }, withSmallDisk(folder, '300m'))
      const { baseUrl } = await app.serving()
      const read = async (path: string) => await (await fetch(baseUrl + path)).text()
      const send = async () => {
        const message = {
          name: 'Ada',
          email: 'ada@example.com',
          category: 'Bug Report',
          subject: 'The disk',
          message: `${crypto.randomUUID()} `.repeat(130),
        }
        const headers = { 'Content-Type': 'application/json' }
        const reply = await fetch(`${baseUrl}/api/contact`, {
          method: 'POST',
          headers,
          body: JSON.stringify(message),
        })
        return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
      }
      expect(await read('/metrics')).toMatch(/^wheelhouse_data_dir_free_bytes \d{8,}/m)
      expect(await send()).toMatchObject({ body: { stored: true } })

      const empty = await fillDisk(app.pid, folder)

      const full = 'The disk of the platform is full, so nothing was stored. Try again later.'
      await expect.poll(send).toEqual({ status: 503, body: { error: full } })
      await expect.poll(() => read('/readyz')).toBe('not ready: the disk of the database is full')
      expect(await read('/metrics')).toMatch(/^wheelhouse_disk_full 1$/m)

      await empty()

      await expect.poll(() => read('/readyz')).toBe('ready')
      expect(await send()).toMatchObject({ body: { stored: true } })
      expect(await read('/metrics')).toMatch(/^wheelhouse_disk_full 0$/m)
    },
  )

  test('a database that ends is restarted; if that fails, the process ends with a message', async () => {
    await using app = startWheelhouse({ ...settings, DATA_DIR: folder })
    const { baseUrl } = await app.serving()
    const isHealthy = async () => (await fetch(`${baseUrl}/api/health`)).ok
    const data = join(folder, 'postgres/cluster/data')
    const kill = async () => {
      process.kill(Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10), 'SIGKILL')
    }
    expect(await isHealthy()).toBe(true)

    await kill()
    await app.line((text) => text.includes('restarted the embedded PostgreSQL'))
    await expect.poll(isHealthy).toBe(true)

    await writeFile(join(data, 'PG_VERSION'), '9.6\n')
    await kill()
    expect(await app.exited).toMatchObject({ code: 1 })
    expect(app.lines.find((line) => line.includes('"level":60'))).toContain('could not be restarted')
  })
})
