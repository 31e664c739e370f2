import { gptTokenizer } from '../../entries/gpt-tokenizer.ts'
import { all, auto, hybrid, metaTool, native, twoPhase } from '../../entries/catalog.ts'
import { exposureSuite } from '../../entries/testing-suites.ts'

const counter = await gptTokenizer()

exposureSuite('all', all, { counter })
exposureSuite('hybrid', hybrid, { counter })
exposureSuite('hybrid with a core', () => hybrid({ core: ['paint_picture', 'files/archive'] }), { counter })
exposureSuite('native', native, { counter })
exposureSuite('metaTool', metaTool, { counter })
exposureSuite('twoPhase', twoPhase, { counter })
exposureSuite('auto', auto, { counter })
