import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { OpenDatasetFile } from './stored-file.ts'

const CREATED_BY = 'wheelhouse'

type WriterOptions = ConstructorParameters<typeof ParquetWriter>[0]
type ParquetSchema = WriterOptions['schema']
type SchemaElement = ParquetSchema[number]
type ColumnData = Parameters<ParquetWriter['write']>[0]['columnData'][number]
/** The values of one column, in the order of the rows. */
export type ColumnValues = ColumnData['data']

/** A column: its name and how Parquet describes it. */
export interface ParquetColumn {
  readonly name: string
  readonly elements: readonly SchemaElement[]
  readonly encoding?: ColumnData['encoding']
  readonly codec?: ColumnData['codec']
}

type Primitive = 'FLOAT' | 'DOUBLE' | 'INT64' | 'BOOLEAN' | 'BYTE_ARRAY'

/** Encodings that take no search for repeated values, which measurements seldom have. */
const encodings = { FLOAT: 'PLAIN', DOUBLE: 'PLAIN', INT64: 'DELTA_BINARY_PACKED' } as const
const encodingOf = (type: string): Pick<ParquetColumn, 'encoding'> => {
  const encoding = encodings[type as keyof typeof encodings]
  return encoding ? { encoding } : {}
}

/** Returns a column of numbers or booleans. All columns may be null in the schema, as those that pandas writes. */
export const scalarColumn = (name: string, type: Primitive): ParquetColumn => ({
  name,
  elements: [{ name, type, repetition_type: 'OPTIONAL' }],
  ...encodingOf(type),
})

const text = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: 'OPTIONAL',
})
/** Returns a column of texts. */
export const textColumn = (name: string): ParquetColumn => ({ name, elements: [text(name)] })

/** Returns a column of lists, or of lists of lists, down to `depth`. */
export function listColumn(name: string, leaf: Primitive | 'STRING', depth = 1): ParquetColumn {
  const element: SchemaElement =
    leaf === 'STRING' ? text('element') : { name: 'element', type: leaf, repetition_type: 'OPTIONAL' }
  const levels = Array.from({ length: depth }, (_, level): SchemaElement[] => [
    {
      name: level === 0 ? name : 'element',
      converted_type: 'LIST',
      repetition_type: 'OPTIONAL',
      num_children: 1,
    },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ])
  return { name, elements: [...levels.flat(), element], ...encodingOf(leaf) }
}

/** Returns a column of pictures, as the type Image of Hugging Face datasets: a struct of `bytes` and `path`. */
export const imageColumn = (name: string): ParquetColumn => ({
  name,
  elements: [
    { name, repetition_type: 'OPTIONAL', num_children: 2 },
    { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
    text('path'),
  ],
  encoding: 'PLAIN',
  codec: 'UNCOMPRESSED', // pictures are compressed
})

/** Collects the bytes of one row group, and passes them on before the next. */
class GroupWriter extends ByteWriter {
  readonly #file: OpenDatasetFile

  constructor(file: OpenDatasetFile) {
    super()
    this.#file = file
  }

  async flush(): Promise<void> {
    if (this.index === 0) return
    const bytes = this.getBytes().slice()
    this.index = 0
    await this.#file.write(bytes)
  }

  override async finish(): Promise<void> {
    await this.flush()
  }
}

/** Opens a Parquet file that is written row group by row group. Only one row group is in memory. */
export function openParquetFile(
  file: OpenDatasetFile,
  columns: readonly ParquetColumn[],
  metadata: Readonly<Record<string, unknown>> = {},
) {
  const schema: ParquetSchema = [
    { name: 'schema', num_children: columns.length },
    ...columns.flatMap(({ elements }) => elements),
  ]
  const entries = Object.entries(metadata).map(([key, value]) => ({ key, value: JSON.stringify(value) }))
  const writer = new ParquetWriter({
    writer: new GroupWriter(file),
    schema,
    // An empty list has no type of its elements, which parquet-wasm refuses.
    ...(entries.length > 0 && { kvMetadata: entries }),
    createdBy: CREATED_BY,
  })
  return {
    /** Writes rows as one row group. `values` are in the order of the columns. */
    async write(values: readonly ColumnValues[], rows: number): Promise<void> {
      const columnData = columns.map(({ name, encoding, codec }, index) => ({
        name,
        data: values[index] as ColumnValues,
        ...(encoding && { encoding }),
        ...(codec && { codec, statistics: false }),
      }))
      await writer.write({ columnData, rowGroupSize: rows })
    },
    async finish(): Promise<void> {
      await writer.finish()
    },
  }
}
export type ParquetFile = ReturnType<typeof openParquetFile>
