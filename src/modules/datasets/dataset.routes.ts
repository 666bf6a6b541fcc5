import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { scopeOf } from '../../core/permissions/authorization.ts'
import {
  DatasetView,
  EpisodeView,
  ListEpisodes,
  MarkEpisode,
  MarkedEpisode,
  SessionEpisodes,
} from './dataset.schema.ts'
import type { Datasets } from './dataset.service.ts'
import { datasetView, episodeView } from './dataset.view.ts'
import type { EpisodeMarks } from './episode-marks.service.ts'

const access = { role: 'client', action: 'datasets.read' } as const

/** Returns the endpoints for a client's datasets and their episodes. */
export function datasetListEndpoints({ datasets }: { datasets: Datasets }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/client/datasets',
      list: true,
      summary: 'Lists the datasets of your robots, one per robot, most recently updated first',
      access,
      response: [200, z.object({ datasets: z.array(DatasetView) })],
      run: async ({ caller }) => ({ datasets: (await datasets.list(scopeOf(caller))).map(datasetView) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/client/datasets/{id}/episodes',
      list: true,
      summary: 'Lists the episodes of one of your datasets, newest first by start time',
      access,
      params: idParams('dataset'),
      query: ListEpisodes,
      response: [200, z.object({ episodes: z.array(EpisodeView) })],
      errors: { 404: { not_found: 'when the dataset does not exist or is not yours' } },
      run: async ({ caller, params, query }) => ({
        episodes: (await datasets.episodes(scopeOf(caller), params.id, query)).map(episodeView),
      }),
    }),
  ]
}

const markErrors = {
  404: { not_found: 'when the session does not exist, or you have no part in it' },
} as const

/** Returns the endpoints for the episodes of a session. */
export function episodeMarkEndpoints({ episodeMarks }: { episodeMarks: EpisodeMarks }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/episodes',
      summary:
        'Marks the start or the end of an episode in an open session, or keeps its last seconds as one',
      access: { scope: 'sessions' },
      params: idParams('session'),
      body: MarkEpisode,
      response: [200, MarkedEpisode],
      errors: {
        ...markErrors,
        409: {
          session_not_open: 'when an episode is to start, or to be kept, in a session that is not open',
          session_not_recorded: 'when the last seconds are to be kept of a session that is not recorded',
          episode_running: 'when an episode is to start while another one runs',
          no_episode_running: 'when no episode runs that could end',
        },
      },
      run: async ({ caller, params, body }) => await episodeMarks.mark(caller, params.id, body),
    }),
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}/episodes',
      summary: 'Lists the episodes of a session, oldest first, and the one that runs',
      access: {},
      params: idParams('session'),
      response: [200, SessionEpisodes],
      errors: markErrors,
      run: async ({ caller, params }) => await episodeMarks.list(caller, params.id),
    }),
  ]
}
