import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The installations of this process, by their packages: apt-get refuses to run twice at the same time. */
const installations = new Map<string, Promise<void>>()
let newest = Promise.resolve()

/**
 * Installs packages as root on Debian, without starting their services, once in each process. On other systems, and after
 * a failure, it only prints a line to standard error: the callers check for the programs themselves.
 */
export function installOnDebian(...packages: string[]): Promise<void> {
  const key = packages.join(' ')
  const known = installations.get(key)
  if (known) return known
  newest = newest.then(() => install(packages))
  installations.set(key, newest)
  return newest
}

async function install(packages: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  console.error(`Missing packages, installing with apt-get: ${packages.join(', ')}`)
  const policy = '/usr/sbin/policy-rc.d'
  const ours = !existsSync(policy)
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const apt = (...args: string[]) =>
    run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], options)
  try {
    // Exit code 101 from this file makes Debian start no services.
    if (ours) await writeFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    await apt('update')
    await apt('install', '--yes', '--no-install-recommends', ...packages)
  } catch (error) {
    console.error(`apt-get could not install ${packages.join(', ')}: ${(error as Error).message}`)
  } finally {
    if (ours) await rm(policy, { force: true })
  }
}
