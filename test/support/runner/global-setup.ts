import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { prepareTemplate } from '../database/template.ts'
import { installProgramsOf } from '../programs/external-programs.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
    redisUrls: string[]
  }
}

interface Services {
  databaseUrl: string
  redisUrls: string[]
  error?: string
}

/** One run's services, shared by its projects: each project loads this file, and some of them more than once. */
const shared = globalThis as { wheelhouseTestServices?: Promise<RunningServices> | undefined }

interface RunningServices extends Services {
  stop(): Promise<void>
}

/**
 * Provides every test file of a project with a real PostgreSQL, including the migrated template, and a real Redis for each worker;
 * installs the runtimes of external clients. All projects of a run share them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.wheelhouseTestServices ??= startServices(workersOf(project))
  const { databaseUrl, redisUrls, stop } = await shared.wheelhouseTestServices
  await installProgramsOf(project.name)
  project.provide('databaseUrl', databaseUrl)
  project.provide('redisUrls', redisUrls)
  // Vitest tears down all projects after the last test.
  return stop
}

const workersOf = ({ vitest }: TestProject): number =>
  Math.max(...vitest.projects.map(({ config }) => config.maxWorkers))

async function startServices(workers: number): Promise<RunningServices> {
  const program = fileURLToPath(new URL('services.ts', import.meta.url))
  // Detached, so that Ctrl-C ends the tests first and the services after them.
  const child = spawn(process.execPath, [program, String(workers)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.stdin.end()
    await ended
  }
  try {
    const { databaseUrl, redisUrls, error } = await firstLine(child.stdout)
    if (error) throw new Error(`The tests' own PostgreSQL and Redis did not start. ${error}`)
    await prepareTemplate(databaseUrl)
    return { databaseUrl, redisUrls, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function firstLine(output: NodeJS.ReadableStream): Promise<Services> {
  for await (const line of createInterface({ input: output })) return JSON.parse(line)
  throw new Error("The tests' own PostgreSQL and Redis ended before they were ready.")
}
