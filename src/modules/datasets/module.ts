import { join } from 'node:path'
import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { datasetListEndpoints, episodeMarkEndpoints } from './dataset.routes.ts'
import { createDatasets } from './dataset.service.ts'
import { createEpisodeStore } from './episode.store.ts'
import { type AppendEpisodeNote, createEpisodeMarks } from './episode-marks.service.ts'
import { datasetExportEndpoints } from './exports/dataset-export.routes.ts'
import {
  createDatasetExportJobs,
  createDatasetExports,
  DATASET_EXPORT_CLEAN_UP,
  DATASET_EXPORTS,
  type IsStorageFull,
  type LogExport,
} from './exports/dataset-export.service.ts'
import { createDatasetExportRunner } from './exports/dataset-export-runner.ts'
import { createDatasetObjects } from './exports/dataset-objects.ts'
import { createExportFinish } from './exports/export-finish.ts'
import { createHubFiles } from './exports/hub-files.ts'

export interface DatasetOptions {
  readonly appendNote: AppendEpisodeNote
  readonly storage: ObjectStore
  /** The folder of the platform's data, for temporary files. */
  readonly dataDir: string
  readonly logExport: LogExport
  /** Returns whether a user has used up the storage of an account. */
  readonly isStorageFull: IsStorageFull
}

/** Creates the services of recorded datasets, their episodes and their exports. */
export function createDatasetServices(
  core: CoreServices,
  { storage, dataDir, logExport, isStorageFull, appendNote }: DatasetOptions,
) {
  const deps = { ...core, storage, logExport, isStorageFull }
  const objects = createDatasetObjects(deps)
  const exportJobs = createDatasetExportJobs(core)
  const finish = createExportFinish({ ...deps, objects })
  const tempDir = join(dataDir, 'tmp', 'exports')
  const write = createDatasetExportRunner({ ...deps, objects, finish, tempDir })
  const removeParts = (exportId: string) => objects.removeAll([exportId]).catch(core.report) // the clean-up deletes the rest
  core.jobs.register(DATASET_EXPORTS, exportJobs.handler(write, removeParts))
  core.jobs.register(DATASET_EXPORT_CLEAN_UP, async () => {
    await exportJobs.failAbandoned()
    await objects.removeOrphans()
  })
  return {
    datasets: createDatasets(core),
    episodeStore: createEpisodeStore(core),
    episodeMarks: createEpisodeMarks({ ...core, appendNote }),
    datasetExports: createDatasetExports({ ...deps, objects, exportJobs }),
    hubFiles: createHubFiles(core),
  }
}
export type DatasetServices = ReturnType<typeof createDatasetServices>

/** Returns the routes of datasets. */
export const datasetEndpoints = (services: DatasetServices): Endpoint[] => [
  ...datasetExportEndpoints(services),
  ...datasetListEndpoints(services),
  ...episodeMarkEndpoints(services),
]
