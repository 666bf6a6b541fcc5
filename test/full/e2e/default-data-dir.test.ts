import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { loadConfig, withDataDir } from '../../../src/app/config.ts'
import { openInfrastructure } from '../../../src/app/infrastructure.ts'
import { separateDataDir } from '../../../src/core/process/data-dir.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wheelhouse-folder-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Opens the data of a platform that is started in the folder with PORT only. */
async function open(port: number) {
  const dataDir = join(folder, '.data')
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  onTestFinished(close)
  const config = {
    ...withDataDir(loadConfig({ PORT: String(port) }), dataDir),
    separateDataDir: separateDataDir(dataDir, port),
  }
  const opened = await openInfrastructure(config, {
    log: pino({ level: 'silent' }),
    report: () => {},
    onClose: (closer) => closers.push(closer),
    fail: () => {},
  })
  const { dataDir: used, storage } = opened.config
  expect(storage).toEqual({ kind: 'local', directory: join(used, 'objects') })
  return { dataDir: used, close }
}

test('a port keeps the data folder that it began with, and shares it with no running platform', async () => {
  const usual = join(folder, '.data')
  const first = await open(8000)
  expect(first.dataDir).toBe(usual)

  const second = await open(4100)
  expect(second.dataDir).toBe(join(usual, 'port-4100'))
  // The same port is free, so that platform is about to end.
  await expect(open(8000)).rejects.toThrow(
    /is already in use by process \d+, a Wheelhouse on port 8000\..*DATA_DIR/,
  )
  await first.close()
  await second.close()

  expect((await open(4100)).dataDir).toBe(second.dataDir)
  // A platform whose usual port another program has taken finds its data on another port.
  expect((await open(3000)).dataDir).toBe(usual)
})
