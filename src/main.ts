// First: the parent may end while the other modules are loaded.
import './core/process/parent-process.ts'
import { inspect } from 'node:util'
import { loadConfig } from './app/config.ts'
import { type RunningPlatform, startRoles } from './app/roles.ts'
import { createLog } from './core/log.ts'
import { ignoreClosedOutput } from './core/process/closed-output.ts'
import { whenOrphaned } from './core/process/parent-process.ts'
import { watchProcessErrors } from './core/process/process-errors.ts'

/** Starts the process: configuration, roles, and an orderly shutdown on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const startedAt = performance.now()
  ignoreClosedOutput()
  const config = loadConfig()
  const log = createLog({ level: config.logLevel, pretty: process.stdout.isTTY === true })
  const processErrors = watchProcessErrors(log)
  // A start that is cut off leaves nothing that the next one could not continue with.
  let onNpmEnded = (): unknown => process.exit(1)
  if (config.runByNpm) whenOrphaned(() => onNpmEnded())
  // The demo is a tool for development: a production installation does not contain it.
  const demoTool = config.demo ? await import('../tools/demo/start.ts') : undefined
  const cameras = demoTool?.createCameraPages()
  const running = await startRoles(config, log, {
    pages: cameras ? [cameras.middleware] : [],
    accounts: demoTool?.demoAccounts ?? [],
  })
  processErrors.measure(running.platform.core.metrics)
  processErrors.setShutdown(running.stop)
  const demo =
    demoTool && cameras ? await demoTool.startDemo(running, cameras).catch(endAndRethrow(running)) : undefined

  let stopping = false
  const stop = async (signal: string, exitCode = 0) => {
    if (stopping) return process.exit(1) // the second signal ends the process at once
    stopping = true
    log.info({ signal }, 'stopping')
    await demo?.stop().catch((cause) => log.error({ err: cause }, 'demo not stopped cleanly'))
    await running.stop()
    log.info('stopped')
    process.exit(exitCode)
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  running.failure.then((cause) => {
    log.fatal(cause.message)
    return stop('failure', 1)
  })
  onNpmEnded = () => stop('npm ended')

  const { baseUrl, hubUrl, gatewayUrl } = running
  log.info(
    { roles: config.roles, baseUrl, hubUrl, gatewayUrl, ms: Math.round(performance.now() - startedAt) },
    'Wheelhouse is serving',
  )
  demo?.printWelcome()
}

/** Returns an error handler that stops the started roles when a later part of the start fails. */
function endAndRethrow(running: RunningPlatform): (cause: unknown) => Promise<never> {
  return async (cause) => {
    await running.stop()
    throw cause
  }
}

main().catch((cause: unknown) => {
  // Errors of the environment are plain `Error`s that say what to do. Other errors are bugs and are printed with
  // their stack.
  const expected = cause instanceof Error && cause.constructor === Error
  process.stderr.write(`\nWheelhouse did not start.\n${expected ? cause.message : inspect(cause)}\n`)
  process.exit(1)
})
