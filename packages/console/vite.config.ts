import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The platform that the development server proxies to. */
const PLATFORM = 'http://localhost:3000'

export default defineConfig(({ mode }) => ({
  base: mode === 'gallery' ? '/' : '/dashboard/',
  plugins: [react()],
  build: {
    // The bundle size test reads which chunk imports which.
    manifest: 'manifest.json',
    // No data URLs, so that the content security policy and caches see every file.
    assetsInlineLimit: 0,
    // test/integration/web/console-bundle-size.test.ts limits the first view instead.
    chunkSizeWarningLimit: 1_000,
    // The gallery is a separate build in one folder, which the console's own build does not contain.
    ...(mode === 'gallery' && {
      assetsDir: '',
      rolldownOptions: { input: fileURLToPath(new URL('gallery.html', import.meta.url)) },
    }),
  },
  server: {
    // The platform needs this address as BASE_URL, see docs/console.md.
    port: 5173,
    strictPort: true,
    proxy: {
      ...Object.fromEntries(['/api', '/auth', '/idp', '/media'].map((path) => [path, { target: PLATFORM }])),
      '/socket.io': { target: PLATFORM, ws: true },
    },
  },
}))
