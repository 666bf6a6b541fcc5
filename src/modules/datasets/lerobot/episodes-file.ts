import { fixedColumns } from './data-columns.ts'
import { type FilePosition, filePosition } from './dataset-paths.ts'
import type { DatasetPlan } from './dataset-plan.ts'
import {
  type ColumnValues,
  listColumn,
  openParquetFile,
  type ParquetColumn,
  scalarColumn,
} from './parquet-file.ts'
import { type FeatureStats, VECTOR_STATS } from './running-stats.ts'
import type { OpenDatasetFile } from './stored-file.ts'

/** The entry of a dataset about one of its episodes. */
export interface EpisodeRecord {
  readonly index: number
  readonly task: string
  readonly length: number
  /** Index of its first row in the dataset. */
  readonly firstIndex: number
  /** For each camera with video, the time of the first row in the file, in seconds. */
  readonly videoStarts: ReadonlyMap<string, number>
  readonly stats: ReadonlyMap<string, FeatureStats>
}

/** A column, and its value for an episode. */
interface EpisodeColumn {
  readonly column: ParquetColumn
  readonly value: (episode: EpisodeRecord) => unknown
}

const integer = (name: string, value: (episode: EpisodeRecord) => number): EpisodeColumn => ({
  column: scalarColumn(name, 'INT64'),
  value: (episode) => BigInt(value(episode)),
})

function videoColumns(key: string, { chunkIndex, fileIndex }: FilePosition, fps: number): EpisodeColumn[] {
  const start = ({ videoStarts }: EpisodeRecord) => videoStarts.get(key) ?? 0
  return [
    integer(`videos/${key}/chunk_index`, () => chunkIndex),
    integer(`videos/${key}/file_index`, () => fileIndex),
    { column: scalarColumn(`videos/${key}/from_timestamp`, 'DOUBLE'), value: start },
    {
      column: scalarColumn(`videos/${key}/to_timestamp`, 'DOUBLE'),
      value: (episode) => start(episode) + episode.length / fps,
    },
  ]
}

/** Statistics of pictures have the shape (3, 1, 1), those of other features that of the feature. */
const shaped = (values: readonly number[], isPicture: boolean): unknown =>
  isPicture ? values.map((value) => [[value]]) : [...values]

function statsColumns(key: string, isPicture: boolean): EpisodeColumn[] {
  const statsOf = ({ stats }: EpisodeRecord) => {
    const found = stats.get(key)
    if (!found) throw new Error(`the feature ${key} has no statistics`)
    return found
  }
  return [
    ...VECTOR_STATS.map((name) => ({
      column: listColumn(`stats/${key}/${name}`, 'DOUBLE', isPicture ? 3 : 1),
      value: (episode: EpisodeRecord) => shaped(statsOf(episode)[name], isPicture),
    })),
    {
      column: listColumn(`stats/${key}/count`, 'INT64'),
      value: (episode) => [BigInt(statsOf(episode).count)],
    },
  ]
}

function episodeColumns(plan: DatasetPlan, fileNumber: number): EpisodeColumn[] {
  const position = filePosition(fileNumber)
  const { chunkIndex, fileIndex } = position
  const videos = plan.cameras.filter(({ mode }) => mode !== 'images')
  return [
    integer('episode_index', ({ index }) => index),
    { column: listColumn('tasks', 'STRING'), value: ({ task }) => [task] },
    integer('length', ({ length }) => length),
    integer('data/chunk_index', () => chunkIndex),
    integer('data/file_index', () => fileIndex),
    integer('dataset_from_index', ({ firstIndex }) => firstIndex),
    integer('dataset_to_index', ({ firstIndex, length }) => firstIndex + length),
    ...videos.flatMap(({ key }) => videoColumns(key, position, plan.fps)),
    ...plan.vectors.flatMap(({ key }) => statsColumns(key, false)),
    ...Object.keys(fixedColumns).flatMap((key) => statsColumns(key, false)),
    ...plan.cameras.flatMap(({ key }) => statsColumns(key, true)),
    integer('meta/episodes/chunk_index', () => chunkIndex),
    integer('meta/episodes/file_index', () => fileIndex),
  ]
}

/** Writes the file of `meta/episodes` for the episodes of one data file. */
export async function writeEpisodes(
  file: OpenDatasetFile,
  plan: DatasetPlan,
  fileNumber: number,
  episodes: readonly EpisodeRecord[],
): Promise<void> {
  const columns = episodeColumns(plan, fileNumber)
  const parquet = openParquetFile(
    file,
    columns.map(({ column }) => column),
  )
  const values = columns.map(({ value }) => episodes.map(value) as ColumnValues)
  await parquet.write(values, episodes.length)
  await parquet.finish()
}
