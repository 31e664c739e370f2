import { gptTokenizer } from '../../gpt-tokenizer/index.ts'
import { all, auto, hybrid, metaTool, twoPhase } from '../../index.ts'
import { exposureSuite } from '../../testing/index.ts'

const counter = await gptTokenizer()

exposureSuite('all', all, { counter })
exposureSuite('hybrid', hybrid, { counter })
exposureSuite('hybrid with a core', () => hybrid({ core: ['paint_picture', 'files/archive'] }), { counter })
exposureSuite('metaTool', metaTool, { counter })
exposureSuite('twoPhase', twoPhase, { counter })
exposureSuite('auto', auto, { counter })
