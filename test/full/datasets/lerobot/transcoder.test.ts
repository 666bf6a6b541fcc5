import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { transcode } from '../../../../src/modules/datasets/lerobot/transcoder.ts'

test('an ffmpeg that neither takes frames nor returns some is ended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-transcoder-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'ffmpeg'), '#!/bin/sh\nexec sleep 600\n')
  await chmod(join(folder, 'ffmpeg'), 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  async function* frames() {
    yield { index: 0, atMs: 0, isKey: true, data: new Uint8Array(4 * 1024 * 1024) }
  }
  const units = transcode(frames(), {
    format: 'jpeg',
    size: { width: 16, height: 16 },
    fps: 10,
    rowTimes: new Float64Array([0]),
    stallMs: 200,
  })
  await expect(units.next()).rejects.toThrow(/ended with null after 0 of 1 frames/)
})
