// Ends the search for the configuration of this repository's own tests.
export default { test: { include: ['*.spec.mjs'] } }
