import { cameraOfTopic } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import { type CreateDatasetExport, MAX_EPISODES } from './dataset-export.schema.ts'

/** An episode, and the recording of its session if it has one. */
export interface SelectedEpisode {
  readonly id: string
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
}

/** Reads episodes of a client, in the order of time. Robots report episodes without the recording of the session. */
async function readEpisodes(
  db: Db,
  clientId: string,
  column: 'id' | 'dataset_id',
  ids: readonly string[],
): Promise<SelectedEpisode[]> {
  const { rows } = await sql<SelectedEpisode>`
    select episodes.id, episodes.started_at, episodes.ended_at, episodes.task, episodes.success, robots.robot_type,
      coalesce(marked.id, of_session.id) as recording_id,
      coalesce(marked.file_key, of_session.file_key) as file_key,
      coalesce(marked.size_bytes, of_session.size_bytes) as size_bytes,
      coalesce(marked.channels, of_session.channels) as channels
    from episodes
    join datasets on datasets.id = episodes.dataset_id and datasets.client_id = ${clientId}
    join robots on robots.id = episodes.robot_id
    left join recordings marked on marked.id = episodes.recording_id and marked.client_id = ${clientId}
    left join recordings of_session on episodes.recording_id is null
      and of_session.session_id = episodes.session_id and of_session.client_id = ${clientId}
    where ${sql.ref(`episodes.${column}`)} = any(${[...ids]}::uuid[])
    order by episodes.started_at, episodes.id
    limit ${MAX_EPISODES + 1}`.execute(db)
  return rows
}

const notExportable = (why: string) => conflict('episode_not_exportable', why)

/** Selects the episodes of a request. @throws 404 or 409, which names the first episode that cannot be exported */
export async function selectEpisodes(
  db: Db,
  clientId: string,
  { episode_ids: episodeIds, dataset_ids: datasetIds = [], cameras = [] }: CreateDatasetExport,
): Promise<SelectedEpisode[]> {
  const episodes = episodeIds
    ? await chosenEpisodes(db, clientId, episodeIds)
    : await episodesOfDatasets(db, clientId, datasetIds)
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
  return episodes
}

async function chosenEpisodes(db: Db, clientId: string, ids: readonly string[]): Promise<SelectedEpisode[]> {
  const episodes = await readEpisodes(db, clientId, 'id', ids)
  const found = new Map(episodes.map((episode) => [episode.id, episode]))
  for (const id of ids) {
    const episode = found.get(id)
    if (!episode) throw notFound(`Episode ${id}`)
    if (episode.recording_id === null)
      throw notExportable(`The episode ${id} has no recording. Leave it out.`)
    if (episode.file_key === null)
      throw notExportable(
        `The recording of the episode ${id} is not finished, or has failed. Leave the episode out, or try again later.`,
      )
  }
  return episodes
}

async function episodesOfDatasets(
  db: Db,
  clientId: string,
  ids: readonly string[],
): Promise<SelectedEpisode[]> {
  const owned = await db
    .selectFrom('datasets')
    .select('id')
    .where('client_id', '=', clientId)
    .where('id', 'in', [...ids])
    .execute()
  const missing = ids.find((id) => !owned.some((dataset) => dataset.id === id))
  if (missing !== undefined) throw notFound(`Dataset ${missing}`)
  const all = await readEpisodes(db, clientId, 'dataset_id', ids)
  if (all.length > MAX_EPISODES)
    throw conflict(
      'export_too_large',
      `The datasets have more than ${MAX_EPISODES.toLocaleString('en')} episodes. Export fewer datasets at a time, or name the episodes.`,
    )
  const episodes = all.filter(({ file_key }) => file_key !== null)
  if (episodes.length === 0)
    throw notExportable('No episode of these datasets has a finished recording. Record sessions first.')
  return episodes
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
export const readExportedEpisodes = (db: Db, clientId: string, ids: readonly string[]) =>
  readEpisodes(db, clientId, 'id', ids)
