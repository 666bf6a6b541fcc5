import { cameraOfTopic } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import { inScope, type Scope } from '../../../core/permissions/authorization.ts'
import type { NotExportable } from '../dataset.schema.ts'
import { notExportableTexts, reasonNotExportable, recordedContent } from '../exportable-episodes.ts'
import { type LeftOut, leftOutOf } from '../left-out.ts'
import { type CreateDatasetExport, MAX_EPISODES } from './dataset-export.schema.ts'

/** An episode, and the recording of its session if it has one. */
export interface SelectedEpisode {
  readonly id: string
  readonly episode_id: string
  readonly started_at: Date
  readonly ended_at: Date
  readonly task: string | null
  readonly success: boolean | null
  readonly robot_type: string
  readonly recording_id: string | null
  /** Null unless the recording is finished. */
  readonly file_key: string | null
  readonly size_bytes: number | null
  readonly channels: readonly { readonly topic: string }[] | null
  /** How much of the episode the recording lacks. */
  readonly missing_seconds: number
  /** The parts of at least a second that it has, in Unix milliseconds. */
  readonly stored_periods: readonly (readonly [fromMs: number, toMs: number])[]
  /** Why the export leaves it out. */
  readonly reason: NotExportable | null
}

type Options = Pick<CreateDatasetExport, 'gaps' | 'unfinished' | 'cameras'>

/** Reads episodes of a client, in the order of time. */
async function readEpisodes(
  db: Db,
  scope: Scope,
  column: 'id' | 'dataset_id',
  ids: readonly string[],
  options: Options,
): Promise<SelectedEpisode[]> {
  const { rows } = await sql<SelectedEpisode>`
    select episodes.id, episodes.episode_id, episodes.started_at, episodes.ended_at, episodes.task, episodes.success,
      robots.robot_type, recordings.id as recording_id, recordings.file_key, recordings.size_bytes, recordings.channels,
      lacking.seconds as missing_seconds, stored.periods as stored_periods, ${reasonNotExportable(options)} as reason
    from episodes
    join datasets on datasets.id = episodes.dataset_id and ${inScope('datasets', scope)}
    join robots on robots.id = episodes.robot_id
    ${recordedContent(options.cameras)}
    where ${sql.ref(`episodes.${column}`)} = any(${[...ids]}::uuid[])
    order by episodes.started_at, episodes.id
    limit ${MAX_EPISODES + 1}`.execute(db)
  return rows
}

const notExportable = (why: string) => conflict('episode_not_exportable', why)

/** Selects the episodes of a request. @throws 404 or 409, which names the first episode that cannot be exported */
export async function selectEpisodes(
  db: Db,
  scope: Scope,
  request: CreateDatasetExport,
): Promise<{ readonly episodes: readonly SelectedEpisode[]; readonly leftOut: LeftOut }> {
  const { episode_ids: episodeIds, dataset_ids: datasetIds = [], cameras = [] } = request
  const all = episodeIds
    ? await chosenEpisodes(db, scope, episodeIds, request)
    : await episodesOfDatasets(db, scope, datasetIds, request)
  const episodes = all.filter(({ reason }) => reason === null)
  if (episodes.length === 0) throw notExportable(noneText(all))
  const [first] = episodes
  const other = episodes.find(({ robot_type }) => robot_type !== first?.robot_type)
  if (first && other)
    throw notExportable(
      `The episodes ${first.id} and ${other.id} are of robots of different types. Export them as two datasets.`,
    )
  for (const camera of cameras) {
    const without = episodes.find((episode) => !camerasOf(episode).includes(camera))
    if (without)
      throw notExportable(
        `The recording of the episode ${without.id} has no camera ${camera}. Leave the camera or the episode out.`,
      )
  }
  return { episodes, leftOut: leftOutOf(all) }
}

/** Returns why no episode of a request can be exported. */
function noneText(episodes: readonly SelectedEpisode[]): string {
  const byReason = Map.groupBy(episodes, ({ reason }) => reason)
  const reasons = [...byReason].flatMap(([reason, { length }]) =>
    reason === null ? [] : `${length} ${notExportableTexts[reason]}`,
  )
  return `None of the ${episodes.length} episodes can be exported: ${reasons.join('; ') || 'there are none'}. Record sessions and mark episodes, or set "gaps" or "unfinished".`
}

async function chosenEpisodes(
  db: Db,
  scope: Scope,
  ids: readonly string[],
  options: Options,
): Promise<SelectedEpisode[]> {
  const episodes = await readEpisodes(db, scope, 'id', ids, options)
  const found = new Map(episodes.map((episode) => [episode.id, episode]))
  for (const id of ids) {
    const reason = found.get(id)?.reason
    if (!found.has(id)) throw notFound(`Episode ${id}`)
    if (reason === 'no_recording' || reason === 'recording_not_ready')
      throw notExportable(
        `The episode ${id} ${notExportableTexts[reason]}. Leave it out, or try again later.`,
      )
  }
  return episodes
}

async function episodesOfDatasets(
  db: Db,
  scope: Scope,
  ids: readonly string[],
  options: Options,
): Promise<SelectedEpisode[]> {
  const owned = await db
    .selectFrom('datasets')
    .select('id')
    .where(inScope('datasets', scope))
    .where('id', 'in', [...ids])
    .execute()
  const missing = ids.find((id) => !owned.some((dataset) => dataset.id === id))
  if (missing !== undefined) throw notFound(`Dataset ${missing}`)
  const all = await readEpisodes(db, scope, 'dataset_id', ids, options)
  if (all.length > MAX_EPISODES)
    throw conflict(
      'export_too_large',
      `The datasets have more than ${MAX_EPISODES.toLocaleString('en')} episodes. Export fewer datasets at a time, or name the episodes.`,
    )
  return all
}

/** Returns the cameras of the recording of an episode. */
const camerasOf = ({ channels }: SelectedEpisode): string[] =>
  (channels ?? []).flatMap(({ topic }) => cameraOfTopic(topic) ?? [])

/** Returns the cameras that all episodes have, by name. */
export function commonCameras(episodes: readonly SelectedEpisode[]): string[] {
  const [first, ...others] = episodes
  if (!first) return []
  const sets = others.map((episode) => new Set(camerasOf(episode)))
  return [...new Set(camerasOf(first))].filter((camera) => sets.every((set) => set.has(camera))).sort()
}

/** Reads the episodes of an export again. Episodes that were discarded since then are missing. */
export const readExportedEpisodes = (
  db: Db,
  scope: Scope,
  ids: readonly string[],
  cameras: readonly string[] | null,
) =>
  readEpisodes(db, scope, 'id', ids, {
    gaps: 'include',
    unfinished: true,
    ...(cameras && { cameras: [...cameras] }),
  })
