import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { DatasetView, EpisodeView, ListEpisodes } from './dataset.schema.ts'
import type { Datasets } from './dataset.service.ts'
import { datasetView, episodeView } from './dataset.view.ts'

const access = { role: 'client' } as const

/** What a client's robots have recorded. */
export function datasetEndpoints({ datasets }: { datasets: Datasets }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/client/datasets',
      summary: 'Lists what your robots have recorded, one dataset a robot, the one that grew last first',
      access,
      response: [200, z.object({ datasets: z.array(DatasetView) })],
      run: async ({ caller }) => ({ datasets: (await datasets.list(caller.userId)).map(datasetView) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/client/datasets/{id}/episodes',
      summary: 'Lists the episodes of one of your datasets, those that began last first',
      access,
      params: idParams('dataset'),
      query: ListEpisodes,
      response: [200, z.object({ episodes: z.array(EpisodeView) })],
      errors: { 404: 'when there is no such dataset of yours' },
      run: async ({ caller, params, query }) => ({
        episodes: (await datasets.episodes(caller.userId, params.id, query)).map(episodeView),
      }),
    }),
  ]
}
