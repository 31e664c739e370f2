import { defineConfig } from 'vite'

// Relative addresses, because the page is served below a path that nobody knows in advance.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    assetsDir: '',
    target: 'es2022',
    // One file each, so that an exported run can carry the page with it.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: { entryFileNames: 'page.js', assetFileNames: '[name][extname]', codeSplitting: false },
    },
  },
})
