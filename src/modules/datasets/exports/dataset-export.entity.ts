import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'
import type { LeftOut } from '../left-out.ts'
import type { DatasetPlan } from '../lerobot/dataset-plan.ts'
import type { ExportState } from './export-state.ts'

export const DatasetExportStatus = z.enum(['PENDING', 'RUNNING', 'READY', 'FAILED'])
export const DatasetExportFormat = z.enum(['lerobot_v3'])
/** Which sample of the telemetry a row has. */
export const DatasetAlignment = z.enum(['causal', 'nearest'])
export const DatasetAlign = z.enum(['time', 'seen'])
/** The treatment of gaps in recordings. */
export const DatasetGaps = z.enum(['leave_out', 'cut', 'include'])

/** A version of a dataset that a job makes from recorded episodes. */
export const DatasetExport = defineEntity({
  name: 'DatasetExport',
  tableName: 'dataset_exports',
  properties: {
    id: p.uuid().primary(),
    /** The organization whose episodes it contains. */
    user: () => referenceTo('Organization').deleteRule('cascade'),
    format: p.enum(DatasetExportFormat.options),
    name: p.text(),
    /** Counts from 1 for each name of a user. */
    version: p.integer(),
    fps: p.integer(),
    /** The cameras that the user chose; null for all that every recording has. */
    cameras: p.json<readonly string[]>().nullable(),
    gaps: p.enum(DatasetGaps.options).default('leave_out'),
    alignment: p.enum(DatasetAlignment.options).default('causal'),
    align: p.enum(DatasetAlign.options).default('time'),
    /** The episodes of the request that are not in the dataset. */
    leftOut: p.json<LeftOut>(),
    /** The episodes, in the order of the dataset. */
    episodeIds: p.json<readonly string[]>(),
    status: p.enum(DatasetExportStatus.options).default('PENDING'),
    progress: p.float().columnType('double precision').default(0),
    /** The features and cameras; null until all episodes were read once. */
    plan: p.json<DatasetPlan>().nullable(),
    /** How far the job is. */
    state: p.json<ExportState>(),
    /** How many episodes, frames and bytes are stored so far. */
    episodes: p.integer().default(0),
    frames: p.bigint('number').default(0),
    sizeBytes: p.bigint('number').default(0),
    /** Identifies the content of a finished version, 40 hexadecimal digits as of a commit. */
    commitSha: p.text().nullable(),
    error: p.text().nullable(),
    createdAt: p.datetime(3),
    finishedAt: p.datetime(3).nullable(),
  },
})
export type DatasetExport = InferEntity<typeof DatasetExport>

/** A file of a dataset, and the object of the storage that holds it. */
export const DatasetExportFile = defineEntity({
  name: 'DatasetExportFile',
  tableName: 'dataset_export_files',
  properties: {
    export: () => p.manyToOne(DatasetExport).mapToPk().primary().deleteRule('cascade'),
    path: p.text().primary(),
    objectKey: p.text(),
    sizeBytes: p.bigint('number'),
    /** Checksum, hexadecimal. */
    sha256: p.text(),
  },
})
export type DatasetExportFile = InferEntity<typeof DatasetExportFile>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof DatasetExport | typeof DatasetExportFile> {}
}
