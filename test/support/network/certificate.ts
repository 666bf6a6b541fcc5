import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requireProgram } from '../programs/installed-programs.ts'

const run = promisify(execFile)

/**
 * Makes a certificate for names or IP addresses, which is signed by itself. Returns the files in the folder: `file` has it with its key,
 * `authority` is what clients trust.
 */
export async function makeCertificate(folder: string, hosts: readonly string[]) {
  const [key, authority, file] = [join(folder, 'tls.key'), join(folder, 'tls.crt'), join(folder, 'tls.pem')]
  const subjects = hosts.map((host) => (/^[\d.]+$/.test(host) ? `IP:${host}` : `DNS:${host}`))
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30']
  const names = ['-subj', '/CN=wheelhouse', '-addext', `subjectAltName=${subjects.join(',')}`]
  const program = requireProgram('openssl', 'openssl')
  await run(program, ['req', '-x509', ...algorithm, ...names, '-keyout', key, '-out', authority])
  const both = `${await readFile(authority, 'utf8')}${await readFile(key, 'utf8')}`
  await writeFile(file, both, { mode: 0o600 })
  return { file, authority }
}

/** Makes a certificate in a folder of its own, which the disposal deletes. */
export async function createTestCertificate(...hosts: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-tls-'))
  const made = await makeCertificate(folder, hosts)
  return { ...made, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
