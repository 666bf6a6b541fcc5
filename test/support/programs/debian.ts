import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Installs packages when we are root on a Debian, without letting them start services of their own. Elsewhere, and
 * when it fails, nothing happens but a line on standard error: whoever needs them looks for them and says so.
 */
export async function installOnDebian(...packages: string[]): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  console.error(`missing, installing with apt-get: ${packages.join(', ')}`)
  const policy = '/usr/sbin/policy-rc.d'
  const ours = !existsSync(policy)
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const apt = (...args: string[]) =>
    run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], options)
  try {
    // Exit code 101 from this file is Debian's way to say: start no services.
    if (ours) await writeFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    await apt('update')
    await apt('install', '--yes', '--no-install-recommends', ...packages)
  } catch (error) {
    console.error(`apt-get could not install ${packages.join(', ')}: ${(error as Error).message}`)
  } finally {
    if (ours) await rm(policy, { force: true })
  }
}
