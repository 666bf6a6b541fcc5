import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { TestUser } from '../world/test-user.ts'
import type { World } from '../world/world.ts'
import { requireFfmpeg } from './encoded-frames.ts'
import { fetchFile } from './recorded-episodes.ts'

const run = promisify(execFile)

/** Downloads a dataset into a folder, which the disposal removes. */
export async function downloadDataset(world: World, user: TestUser, baseUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-dataset-'))
  const [, owner, name] = /^\/datasets\/([^/]+)\/([^/]+)\//.exec(baseUrl) ?? []
  const reply = await fetchFile(world, user, `/api/datasets/${owner}/${name}`)
  const { siblings } = (await reply.json()) as { siblings: { rfilename: string; size: number }[] }
  for (const { rfilename, size } of siblings) {
    const file = await fetchFile(world, user, `${baseUrl}/${rfilename}`)
    const bytes = Buffer.from(await file.arrayBuffer())
    expect([file.status, bytes.length], rfilename).toEqual([200, size])
    await mkdir(dirname(join(folder, rfilename)), { recursive: true })
    await writeFile(join(folder, rfilename), bytes)
  }
  return {
    folder,
    paths: siblings.map(({ rfilename }) => rfilename),
    path: (name: string) => join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
const root = fileURLToPath(new URL('../../..', import.meta.url))
let loaded: Promise<typeof import('@duckdb/node-api')> | undefined

/** Loads DuckDB, whose library an installation omits. */
function loadDuckdb() {
  loaded ??= run(process.execPath, ['tools/scripts/ensure-duckdb.mjs'], { cwd: root }).then(
    () => import('@duckdb/node-api'),
  )
  return loaded
}

/** Runs a query of DuckDB. Returns its rows as JSON values. */
export async function duckdb(sql: string): Promise<Record<string, unknown>[]> {
  const { DuckDBInstance } = await loadDuckdb()
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const reader = await connection.runAndReadAll(sql)
    return reader.getRowObjectsJson() as Record<string, unknown>[]
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Returns the report of ffprobe about a video, with the time of each frame. */
export async function probe(path: string) {
  await requireFfmpeg()
  const entries = 'stream=codec_name,avg_frame_rate,nb_frames,width,height:frame=pts_time,pict_type'
  const { stdout } = await run(
    'ffprobe',
    ['-v', 'error', '-select_streams', 'v', '-show_entries', entries, '-of', 'json', path],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  const { streams, frames } = JSON.parse(stdout) as {
    streams: {
      codec_name: string
      avg_frame_rate: string
      nb_frames: string
      width: number
      height: number
    }[]
    frames: { pts_time: string; pict_type: string }[]
  }
  return { stream: streams[0], times: frames.map(({ pts_time }) => Number(pts_time)) }
}
