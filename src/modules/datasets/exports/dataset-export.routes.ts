import { forbidden } from '../../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { type Scope, scopeOf } from '../../../core/permissions/authorization.ts'
import { CreateDatasetExport, DatasetExportList, DatasetExportView } from './dataset-export.schema.ts'
import type { DatasetExports } from './dataset-export.service.ts'

const reading = { role: 'client', action: 'datasets.read' } as const
const writing = { role: 'client', action: 'datasets.write' } as const

/** Returns the scope of a member of the whole organization: an export may contain robots of every group. @throws 403 */
function wholeOf(caller: Caller): Scope {
  const scope = scopeOf(caller)
  if (scope.groupIds === null) return scope
  throw forbidden(
    'permission_required',
    'Exports of datasets are for members who see all robots of the organization.',
  )
}

/** Returns the routes of datasets that a job makes of recorded episodes. */
export function datasetExportEndpoints({ datasetExports }: { datasetExports: DatasetExports }): Endpoint[] {
  const params = idParams('datasetExport')
  return [
    endpoint({
      method: 'post',
      path: '/api/client/datasets/exports',
      summary: 'Exports recorded episodes as a dataset, in the background',
      access: writing,
      body: CreateDatasetExport,
      response: [202, DatasetExportView],
      example: { status: 'PENDING', progress: 0, episodes: 0, frames: 0, size_bytes: 0, finished_at: null },
      errors: {
        404: { not_found: 'when an episode or a dataset does not exist or is not yours' },
        409: {
          episode_not_exportable: 'when an episode has no finished recording, or does not fit the others',
          export_limit_reached: 'when two of your exports are running, or 50 are stored',
          storage_quota_exceeded: 'when your recordings and exports take as much storage as they may',
          export_too_large: 'when the datasets have more than 10,000 episodes',
        },
      },
      run: async ({ caller, body }) => await datasetExports.create(wholeOf(caller), body),
    }),
    endpoint({
      method: 'get',
      path: '/api/client/datasets/exports',
      list: true,
      summary: 'Lists your exported datasets, newest first',
      access: reading,
      response: [200, DatasetExportList],
      run: async ({ caller }) => ({ exports: await datasetExports.list(wholeOf(caller).organizationId) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/client/datasets/exports/{id}',
      summary: 'Shows an exported dataset and its progress',
      access: reading,
      params,
      response: [200, DatasetExportView],
      run: async ({ caller, params }) => await datasetExports.get(wholeOf(caller).organizationId, params.id),
    }),
    endpoint({
      method: 'delete',
      path: '/api/client/datasets/exports/{id}',
      summary: 'Cancels the export of a dataset, or deletes the dataset',
      access: writing,
      params,
      response: [204],
      run: async ({ caller, params }) =>
        await datasetExports.remove(wholeOf(caller).organizationId, params.id),
    }),
  ]
}
