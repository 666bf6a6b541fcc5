import { z } from 'zod'
import type { CoreServices } from '../../core/core-services.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { credentialOf } from '../../core/permissions/authorization.ts'
import { JobPage, JobReceipt, ListJobs, QueueView } from './job.schema.ts'
import type { JobControl } from './job-control.ts'
import { listJobs } from './job-list.ts'
import { readQueueCounts } from './queue-counts.ts'

const access = { role: 'admin' } as const
const gone = 'when the job has finished, or was discarded or retried'

/** Returns the routes by which admins look after background work. */
export function jobEndpoints(control: JobControl, core: Pick<CoreServices, 'db' | 'jobs'>): Endpoint[] {
  return [...listEndpoints(core), ...controlEndpoints(control)]
}

function listEndpoints({ db, jobs }: Pick<CoreServices, 'db' | 'jobs'>): Endpoint[] {
  const queueNames = () => jobs.queues().map(({ name }) => name)
  return [
    endpoint({
      method: 'get',
      path: '/api/admin/jobs/queues',
      list: true,
      summary: 'Lists the queues of background jobs, with the number of unfinished jobs',
      access,
      response: [200, z.object({ queues: z.array(QueueView) })],
      run: async () => {
        const counts = new Map((await readQueueCounts(db, queueNames())).map((row) => [row.queue, row]))
        return {
          queues: jobs.queues().map(({ name, description, cron = null }) => {
            const { queue: _, ...numbers } = counts.get(name) ?? NONE
            return { name, description, cron, ...numbers }
          }),
        }
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/admin/jobs',
      list: true,
      summary: 'Lists failed, retrying, running or waiting background jobs, newest first',
      access,
      query: ListJobs,
      response: [200, JobPage],
      run: async ({ query }) => await listJobs(db, { ...query, queues: queueNames() }),
    }),
  ]
}

const NONE = { queue: '', due: 0, later: 0, running: 0, retrying: 0, failed: 0, oldest_due_seconds: 0 }

function controlEndpoints(control: JobControl): Endpoint[] {
  const params = idParams('job')
  return [
    endpoint({
      method: 'post',
      path: '/api/admin/jobs/{id}/retry',
      summary: 'Runs a failed, retrying or waiting background job now',
      access,
      params,
      response: [200, JobReceipt],
      errors: { 409: { job_running: 'when the job is running', job_gone: gone } },
      run: async ({ caller, params }) => await control.retry(caller.userId, params.id, credentialOf(caller)),
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/jobs/{id}/discard',
      summary: 'Removes a background job; a running one is aborted',
      access,
      params,
      response: [200, JobReceipt],
      errors: { 409: { job_gone: gone, job_required: 'when money waits for its result' } },
      run: async ({ caller, params }) =>
        await control.discard(caller.userId, params.id, credentialOf(caller)),
    }),
  ]
}
