import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

interface Installed {
  readonly folder: string
  readonly manifest: { readonly name: string; readonly version: string }
}

/**
 * Starts a local npm registry with exactly the third-party packages that the checkout has installed. It packs them from
 * their folders on request. npm does not install a dependency that a Wheelhouse package does not declare.
 */
export async function startLocalRegistry() {
  const installed = installedPackages()
  const requested: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    requested.push(path)
    const [name = '', version] = path.split('/-/')
    const known = installed.get(name)
    const item = known?.find(({ manifest }) => manifest.version === version)
    if (item) {
      packFolder(item.folder).pipe(response)
    } else if (known && version === undefined) {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(packument(name, known, `http://${request.headers.host}`)))
    } else response.writeHead(404).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Paths of all requests so far. */
    requested: requested as readonly string[],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Returns all installed versions of third-party packages by name. */
function installedPackages(): Map<string, Installed[]> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const byName = new Map<string, Installed[]>()
  for (const [path, { link }] of Object.entries<{ link?: boolean }>(lock.packages)) {
    const folder = join(root, path)
    if (link || !path.includes('node_modules/') || !existsSync(join(folder, 'package.json'))) continue
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    byName.set(manifest.name, [...(byName.get(manifest.name) ?? []), { folder, manifest }])
  }
  return byName
}

function packument(name: string, known: readonly Installed[], origin: string) {
  const versions = known.map(({ manifest }) => {
    const tarball = `${origin}/${encodeURIComponent(name)}/-/${manifest.version}`
    return [manifest.version, { ...manifest, dist: { tarball } }]
  })
  return { name, 'dist-tags': { latest: versions.at(-1)?.[0] }, versions: Object.fromEntries(versions) }
}

/** Returns the folder as a tarball. npm ignores the name of its top-level folder. */
function packFolder(folder: string) {
  const name = basename(folder)
  const args = ['-czf', '-', '-C', dirname(folder), `--exclude=${name}/node_modules`, name]
  return spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout
}
