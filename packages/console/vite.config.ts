import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The platform that the development server stands in front of. */
const PLATFORM = 'http://localhost:3000'

export default defineConfig({
  base: '/dashboard/',
  plugins: [react()],
  build: {
    // Which chunk loads which, for the check of its size.
    manifest: 'manifest.json',
    // Nothing as data: the content policy and caches see every file.
    assetsInlineLimit: 0,
    // test/integration/web/console-bundle-size.test.ts looks at what counts: the first view.
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    // The platform must know this address as its own: BASE_URL, see docs/console.md.
    port: 5173,
    strictPort: true,
    proxy: {
      ...Object.fromEntries(['/api', '/auth', '/idp', '/media'].map((path) => [path, { target: PLATFORM }])),
      '/socket.io': { target: PLATFORM, ws: true },
    },
  },
})
