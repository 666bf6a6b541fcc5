import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command, Option } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { choice } from './lib/options.ts'
import { formatTime } from './lib/views.ts'

const JOB = 'the id of the job'
const JOB_STATES = ['failed', 'retrying', 'running', 'waiting']

export function declareJobs(admin: Command, action: CreateAction, limit: Option): void {
  const jobs = admin.command('jobs').description('background jobs')
  const job = (name: string, description: string) =>
    jobs.command(name).description(description).argument('<job>', JOB)
  jobs
    .command('queues', { isDefault: true })
    .description('list the queues and their unfinished jobs')
    .action(action(queues))
  jobs
    .command('list')
    .description('list unfinished jobs and their errors, newest first')
    .addOption(choice('--state <state>', 'the state of the jobs', JOB_STATES, 'failed'))
    .option('--queue <queue>', 'only jobs of this queue')
    .addOption(limit)
    .action(action(list))
  job('retry', 'run a failed, retrying or waiting job now').action(action(retry))
  job('discard', 'remove a job; a running one is aborted').action(action(discard))
}

/** Prints the queues of background jobs. */
async function queues(cli: Context): Promise<void> {
  const { queues } = await answerOf(cli.rest.GET('/api/admin/jobs/queues'))
  cli.out.list(
    queues,
    [
      { title: 'QUEUE', value: ({ name }) => name, noTruncate: true },
      { title: 'FAILED', value: ({ failed }) => failed, right: true },
      { title: 'RETRYING', value: ({ retrying }) => retrying, right: true },
      { title: 'RUNNING', value: ({ running }) => running, right: true },
      { title: 'DUE', value: ({ due }) => due, right: true },
      { title: 'LATER', value: ({ later }) => later, right: true },
      { title: 'OLDEST', value: ({ oldest_due_seconds: age }) => `${Math.round(age)} s`, right: true },
      { title: 'DESCRIPTION', value: ({ description }) => description },
    ],
    'No queues.',
  )
}

interface ListOptions {
  readonly state: Schemas['JobState']
  readonly queue?: string
  readonly limit: number
}

/** Prints unfinished background jobs. */
async function list(cli: Context, query: ListOptions): Promise<void> {
  const { jobs } = await answerOf(cli.rest.GET('/api/admin/jobs', { params: { query } }))
  cli.out.list(
    jobs,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'QUEUE', value: ({ queue }) => queue },
      { title: 'CREATED', value: ({ created_at }) => formatTime(created_at) },
      { title: 'NEXT', value: ({ next_attempt_at: next }) => (next === null ? '' : formatTime(next)) },
      { title: 'ATTEMPTS', value: ({ attempts }) => attempts, right: true },
      { title: 'PROGRESS', value: ({ progress }) => (progress ? `${progress.done}/${progress.total}` : '') },
      { title: 'ERROR', value: ({ error }) => error },
    ],
    'No matching jobs.',
  )
}

/** Runs a background job now. */
async function retry(cli: Context, id: string): Promise<void> {
  const job = await answerOf(cli.rest.POST('/api/admin/jobs/{id}/retry', { params: { path: { id } } }))
  cli.out.result(job, () => cli.out.line(`The job of ${job.queue} runs now.`))
}

/** Removes a background job. */
async function discard(cli: Context, id: string): Promise<void> {
  const job = await answerOf(cli.rest.POST('/api/admin/jobs/{id}/discard', { params: { path: { id } } }))
  cli.out.result(job, () => cli.out.line(`The job of ${job.queue} is discarded.`))
}
