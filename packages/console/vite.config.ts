import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv } from 'vite'

const PUSH_WORKER = 'push-worker'
/** What the first view of a signed-in user needs is one file with all that it imports, instead of a file for each part that pages share. */
const FIRST_VIEW =
  /console\/src\/(app\/(app|router|palette-launcher)|operator\/driving-bar|home\/(home\.page|owner-home|operator-home))\.tsx?$/
const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Returns what the development server has the platform answer. */
const proxyTo = (target: string) => ({
  ...Object.fromEntries(['/api', '/auth', '/idp', '/media'].map((path) => [path, { target }])),
  // The development server has no built service worker.
  [`/dashboard/${PUSH_WORKER}.js`]: { target },
  '/socket.io': { target, ws: true },
})

export default defineConfig(({ mode }) => ({
  base: mode === 'gallery' ? '/' : '/dashboard/',
  plugins: [react()],
  build: {
    // The bundle size test reads which chunk imports which.
    manifest: 'manifest.json',
    // No data URLs, so that the content security policy and caches see every file.
    assetsInlineLimit: 0,
    // test/full/web/console-bundle-size.test.ts limits the first view instead.
    chunkSizeWarningLimit: 1_000,
    // The gallery is a separate build in one folder, which the console's own build does not contain.
    ...(mode === 'gallery'
      ? { assetsDir: '', rolldownOptions: { input: source('gallery.html') } }
      : {
          rolldownOptions: {
            input: {
              index: source('index.html'),
              replay: source('replay.html'),
              [PUSH_WORKER]: source('src/push/worker.ts'),
            },
            output: {
              codeSplitting: { groups: [{ name: 'first', test: FIRST_VIEW }] },
              // The name of a service worker stays, so that browsers find its next version.
              entryFileNames: ({ name }: { name: string }) =>
                name === PUSH_WORKER ? '[name].js' : 'assets/[name]-[hash].js',
            },
          },
        }),
  },
  server: {
    // The platform needs this address as BASE_URL, see docs/console.md.
    port: 5173,
    strictPort: true,
    proxy: proxyTo(`http://localhost:${loadEnv(mode, '.', 'PORT').PORT || 3000}`),
  },
}))
