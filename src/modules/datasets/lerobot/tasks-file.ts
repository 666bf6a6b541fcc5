import { openParquetFile, scalarColumn, textColumn } from './parquet-file.ts'
import type { OpenDatasetFile } from './stored-file.ts'

/** Metadata for pandas: the column of the texts is the index, from which LeRobot takes the tasks. */
const PANDAS = {
  index_columns: ['task'],
  column_indexes: [
    {
      name: null,
      field_name: null,
      pandas_type: 'unicode',
      numpy_type: 'object',
      metadata: { encoding: 'UTF-8' },
    },
  ],
  columns: [
    {
      name: 'task_index',
      field_name: 'task_index',
      pandas_type: 'int64',
      numpy_type: 'int64',
      metadata: null,
    },
    { name: 'task', field_name: 'task', pandas_type: 'unicode', numpy_type: 'object', metadata: null },
  ],
  attributes: {},
  creator: { library: 'wheelhouse', version: '1' },
  pandas_version: '1.5.3',
}

/** Writes `meta/tasks.parquet`. */
export async function writeTasks(file: OpenDatasetFile, tasks: readonly string[]): Promise<void> {
  const parquet = openParquetFile(file, [scalarColumn('task_index', 'INT64'), textColumn('task')], {
    pandas: PANDAS,
  })
  await parquet.write([BigInt64Array.from(tasks, (_, index) => BigInt(index)), [...tasks]], tasks.length)
  await parquet.finish()
}
