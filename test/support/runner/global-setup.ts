import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { prepareTemplate } from '../database/template.ts'
import { installOutsidePrograms } from '../programs/external-programs.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
    redisUrl: string
  }
}

interface Services {
  databaseUrl: string
  redisUrl: string
  error?: string
}

/**
 * Provides every test file with a real PostgreSQL, including the migrated template, and a real Redis; installs the
 * runtimes of external clients.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const program = fileURLToPath(new URL('services.ts', import.meta.url))
  // Detached, so that Ctrl-C ends the tests first and the services after them.
  const child = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const teardown = async () => {
    child.stdin.end()
    await ended
  }
  try {
    const { databaseUrl, redisUrl, error } = await firstLine(child.stdout)
    if (error) throw new Error(`The tests' own PostgreSQL and Redis did not start. ${error}`)
    await prepareTemplate(databaseUrl)
    await installOutsidePrograms()
    project.provide('databaseUrl', databaseUrl)
    project.provide('redisUrl', redisUrl)
  } catch (error) {
    await teardown()
    throw error
  }
  return teardown
}

async function firstLine(output: NodeJS.ReadableStream): Promise<Services> {
  for await (const line of createInterface({ input: output })) return JSON.parse(line)
  throw new Error("The tests' own PostgreSQL and Redis ended before they were ready.")
}
