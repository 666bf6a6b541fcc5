import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { DatasetView, EpisodeView, ListEpisodes } from './dataset.schema.ts'
import type { Datasets } from './dataset.service.ts'
import { datasetView, episodeView } from './dataset.view.ts'

const access = { role: 'client' } as const

/** Returns the endpoints for a client's datasets and their episodes. */
export function datasetListEndpoints({ datasets }: { datasets: Datasets }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/client/datasets',
      summary: 'Lists the datasets of your robots, one per robot, most recently updated first',
      access,
      response: [200, z.object({ datasets: z.array(DatasetView) })],
      run: async ({ caller }) => ({ datasets: (await datasets.list(caller.userId)).map(datasetView) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/client/datasets/{id}/episodes',
      summary: 'Lists the episodes of one of your datasets, newest first by start time',
      access,
      params: idParams('dataset'),
      query: ListEpisodes,
      response: [200, z.object({ episodes: z.array(EpisodeView) })],
      errors: { 404: { not_found: 'when the dataset does not exist or is not yours' } },
      run: async ({ caller, params, query }) => ({
        episodes: (await datasets.episodes(caller.userId, params.id, query)).map(episodeView),
      }),
    }),
  ]
}
