import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { VideoToolNames } from '../../../src/modules/datasets/lerobot/camera-choice.ts'
import type { EpisodeInput } from '../../../src/modules/datasets/lerobot/dataset-input.ts'
import { loadVideoCodecs } from '../../../src/modules/datasets/lerobot/frame-decoder.ts'
import { planDataset } from '../../../src/modules/datasets/lerobot/plan-dataset.ts'
import type { Alignment } from '../../../src/modules/datasets/lerobot/resampler.ts'
import type { Align } from '../../../src/modules/datasets/lerobot/seen-clock.ts'
import { writePart } from '../../../src/modules/datasets/lerobot/write-part.ts'
import { MemoryStore } from '../storage/memory-store.ts'
import { type FixtureRecording, storeRecording } from './mcap-fixtures.ts'

/** Writes episodes of one recording into a folder, without the platform. */
export async function writeDataset(options: {
  readonly recording: FixtureRecording
  readonly episodes: readonly (readonly [fromMs: number, toMs: number])[]
  readonly cameras: readonly string[]
  readonly fps?: number
  readonly alignment?: Alignment
  readonly align?: Align
  readonly tools?: VideoToolNames
  /** Whether the user chose the cameras. */
  readonly isChosen?: boolean
}) {
  const {
    recording,
    cameras,
    fps = 30,
    tools = { ffmpeg: true, decoder: true },
    isChosen = false,
    alignment = 'causal',
    align = 'time',
  } = options
  const store = new MemoryStore()
  const stored = await storeRecording(store, 'recordings/one/recording.mcap', recording)
  const episodes = options.episodes.map(
    ([fromMs, toMs], index): EpisodeInput => ({
      id: randomUUID(),
      index,
      task: 'Pick the cube',
      taskIndex: 0,
      success: true,
      startMs: recording.startMs + fromMs,
      endMs: recording.startMs + toMs,
      recording: stored,
    }),
  )
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-written-'))
  try {
    const plan = await planDataset(
      { fps, alignment, align, episodes, cameras, isChosen },
      { store, tools, progress: () => {} },
    )
    const part = await writePart(
      { plan, episodes, fileNumber: 0, firstIndex: 0, keyPrefix: 'exports/one' },
      {
        store,
        codecs: tools.decoder ? loadVideoCodecs() : undefined,
        tempDir: folder,
        scansOf: () => undefined,
        progress: () => {},
      },
    )
    for (const { path, key } of part.files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), await store.readBytes(key))
    }
    return {
      plan,
      part,
      path: (name: string) => join(folder, name),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    }
  } catch (cause) {
    await rm(folder, { recursive: true, force: true })
    throw cause
  }
}
