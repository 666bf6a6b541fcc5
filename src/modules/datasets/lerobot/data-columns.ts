import type { DatasetPlan } from './dataset-plan.ts'
import type { VectorFeature } from './features.ts'
import {
  type ColumnValues,
  imageColumn,
  listColumn,
  type ParquetColumn,
  scalarColumn,
} from './parquet-file.ts'
import type { Row } from './resampler.ts'

const INTERVENTION = 'complementary_info.is_intervention'
/**
 * The name that rollouts of LeRobot give the same column: `{"dtype": "bool", "shape": (1,), "names": None}` in
 * `DAggerStrategyConfig.extra_dataset_features` of src/lerobot/rollout/configs.py.
 */
const SHORT_INTERVENTION = 'intervention'
const SUCCESS_KNOWN = 'complementary_info.is_success_known'
/** The columns of every LeRobot dataset, and those that this platform adds, with their types. */
export const fixedColumns = {
  timestamp: 'float32',
  frame_index: 'int64',
  episode_index: 'int64',
  index: 'int64',
  task_index: 'int64',
  'next.done': 'bool',
  'next.success': 'bool',
  [INTERVENTION]: 'bool',
  [SHORT_INTERVENTION]: 'bool',
  [SUCCESS_KNOWN]: 'bool',
} as const
type FixedColumn = keyof typeof fixedColumns
type FixedType = (typeof fixedColumns)[FixedColumn]
const parquetTypes = { float32: 'FLOAT', int64: 'INT64', bool: 'BOOLEAN' } as const

/** The episode of rows. */
export interface RowContext {
  readonly episodeIndex: number
  readonly taskIndex: number
  readonly success: boolean | null
  readonly fps: number
  /** Index of the first row of the episode in the dataset. */
  readonly firstIndex: number
  readonly episodeRows: number
}

/** The key of a picture, and its bytes for each row. */
export type RowPictures = ReadonlyMap<string, readonly Uint8Array[]>

const imageKeys = ({ cameras }: Pick<DatasetPlan, 'cameras'>): string[] =>
  cameras.filter(({ mode }) => mode === 'images').map(({ key }) => key)

/** Vectors with one number are scalars in LeRobot's files. */
const vectorColumn = ({ key, slots }: VectorFeature): ParquetColumn =>
  slots.length === 1 ? scalarColumn(key, 'FLOAT') : listColumn(key, 'FLOAT')

/** Returns the columns of the files with the rows. */
export const dataColumns = (plan: Pick<DatasetPlan, 'vectors' | 'cameras'>): ParquetColumn[] => [
  ...plan.vectors.map(vectorColumn),
  ...imageKeys(plan).map(imageColumn),
  ...Object.entries(fixedColumns).map(([name, type]) => scalarColumn(name, parquetTypes[type])),
]

/** Returns the values of a fixed column for the rows from a frame on. */
function fixedValues(name: FixedColumn, rows: readonly Row[], from: number, context: RowContext) {
  const { fps, firstIndex, episodeIndex, taskIndex, success, episodeRows } = context
  const isLast = (row: number) => from + row === episodeRows - 1
  const isIntervention = (row: number) => rows[row]?.isIntervention ?? false
  const values: Readonly<Record<FixedColumn, (row: number) => number | boolean>> = {
    timestamp: (row) => Math.fround((from + row) / fps),
    frame_index: (row) => from + row,
    episode_index: () => episodeIndex,
    index: (row) => firstIndex + from + row,
    task_index: () => taskIndex,
    'next.done': isLast,
    'next.success': (row) => success === true && isLast(row),
    [INTERVENTION]: isIntervention,
    [SHORT_INTERVENTION]: isIntervention,
    [SUCCESS_KNOWN]: () => success !== null,
  }
  return rows.map((_, row) => values[name](row))
}

/** Returns the fixed values as one vector for each row, for the statistics. */
export function fixedVectors(rows: readonly Row[], from: number, context: RowContext) {
  return Object.keys(fixedColumns).map((name) => ({
    key: name,
    values: fixedValues(name as FixedColumn, rows, from, context).map((value) =>
      Float32Array.of(Number(value)),
    ),
  }))
}

const asStored = (values: readonly (number | boolean)[], type: FixedType): ColumnValues =>
  type === 'int64' ? BigInt64Array.from(values, (value) => BigInt(value)) : [...values]

/** Returns the values of the columns for rows of an episode, from a frame on. */
export function dataValues(
  plan: Pick<DatasetPlan, 'vectors' | 'cameras'>,
  rows: readonly Row[],
  pictures: RowPictures,
  from: number,
  context: RowContext,
): ColumnValues[] {
  const vectors = plan.vectors.map(({ slots }, index) =>
    rows.map((row) => {
      const vector = row.vectors[index] as Float32Array
      return slots.length === 1 ? vector[0] : Array.from(vector)
    }),
  )
  const images = imageKeys(plan).map((key) =>
    (pictures.get(key) ?? []).map((bytes, row) => ({ bytes, path: `frame-${from + row}.jpg` })),
  )
  const fixed = Object.entries(fixedColumns).map(([name, type]) =>
    asStored(fixedValues(name as FixedColumn, rows, from, context), type),
  )
  return [...vectors, ...images, ...fixed]
}

/** Returns the types of the columns for Hugging Face's library `datasets`, which it reads from the metadata of the file. */
export function huggingFaceInfo(plan: Pick<DatasetPlan, 'vectors' | 'cameras'>) {
  const value = (dtype: string) => ({ dtype, _type: 'Value' })
  const vectors = plan.vectors.map(({ key, slots: { length } }) => [
    key,
    length === 1 ? value('float32') : { feature: value('float32'), length, _type: 'Sequence' },
  ])
  const images = imageKeys(plan).map((key) => [key, { _type: 'Image' }])
  const fixed = Object.entries(fixedColumns).map(([name, type]) => [name, value(type)])
  return { info: { features: Object.fromEntries([...vectors, ...images, ...fixed]) } }
}
