// What people say when they are content with an agent's work or not: English, German, French, Spanish, Portuguese,
// Chinese, Japanese. Lower case; a plain apostrophe stands for both.

const list = (phrases: string): readonly string[] => phrases.split('|').map((phrase) => phrase.trim());

export const NEGATIVE_PHRASES = list(`
  doesn't work | does not work | didn't work | did not work | still doesn't | still does not | isn't working |
  not working | still broken | still failing | still fails | still wrong | still not | still getting |
  incorrect | wrong | broken | failed again | fails again | that failed | you broke | it broke | you missed |
  you forgot | that's not what i | not what i asked | not what i wanted | not what i meant | undo that |
  undo this | revert that | revert this | try again | same error | no, | no. | no! | nope | bad idea |
  👎 | makes no sense | funktioniert nicht | geht nicht | geht immer noch nicht | immer noch kaputt | falsch |
  stimmt nicht | nein, | nicht das, was ich | mach das rückgängig | gleicher fehler | noch einmal versuchen |
  versuch es noch einmal | ne marche pas | ne marche toujours pas | ne fonctionne pas | toujours cassé |
  incorrecte | c'est faux | non, | ce n'est pas ce que | même erreur | réessaie | annule ça | no funciona |
  sigue sin funcionar | sigue fallando | incorrecto | está mal | no es lo que | mismo error |
  inténtalo de nuevo | deshaz eso | equivocado | não funciona | não funcionou | ainda não |
  continua quebrado | incorreto | errado | não é o que | mesmo erro | tente novamente | tenta de novo | não, |
  不对 | 不對 | 错了 | 錯了 | 还是不行 | 還是不行 | 不行 | 没用 | 沒用 | 有问题 | 不正确 | 不是我想要的 | 重做 | 还是报错 | 違います | 違う | 間違って | 間違い |
  動かない | 動きません | 直っていない | 直ってない | だめ | ダメ | やり直し
`);

export const POSITIVE_PHRASES = list(`
  works now | it works | that works | this works | works great | works perfectly | looks good | looks great |
  lgtm | 👍 | 🎉 | ❤️ | 💯 | perfect | well done | awesome | excellent | good job | great job | nice work | that's correct |
  that's right | that is correct | is correct | is fixed | it's fixed | fixed now | fixed it |
  exactly what i | thank you | thanks | love it | much better | funktioniert jetzt | es funktioniert |
  jetzt geht es | perfekt | sehr gut | danke | stimmt so | genau so | super | ça marche | cela fonctionne |
  parfait | merci | très bien | c'est bon | bien joué | ya funciona | ahora funciona | perfecto | gracias |
  muy bien | excelente | así es | funciona agora | agora funciona | funcionou | perfeito | obrigado |
  obrigada | muito bom | muito bem | 谢谢 | 謝謝 | 太好了 | 很好 | 完美 | 可以了 | 没问题 | 沒問題 | 搞定了 | 好的,谢谢 | ありがとう | 完璧 |
  動きました | 動いた | 直りました | 直った | 素晴らしい | いいですね | うまくいきました
`);

/** Words that say something only when they are denied: «fixed» may be a width, «not fixed» is a complaint. */
export const DENIED_WORDS = list(`
  fixed | correct | right | working | solved | resolved | good | done | better | finished | what i want |
  behoben | richtig | gelöst | fertig | gut | korrekt | corrigé | résolu | bon | correct | arreglado |
  solucionado | resuelto | correcto | bien | corrigido | resolvido | correto | certo
`);

/** What turns a statement round, when it stands at most two words before it. */
export const DENIALS = list(`
  not | isn't | wasn't | aren't | doesn't | didn't | don't | won't | never | no longer | nothing | hardly |
  nicht | nie | kein | keine | pas | jamais | rien | no | nunca | nada | não | nem
`);

/** Asked about rather than said: «what is wrong with it». */
export const ASKING = list(`
  what's | what is | whats | anything | something | if | whether | was ist
`);

/** Words that are praise only when nothing follows them: «great», but not «a great deal of rows». */
export const LAST_WORDS = list(`
  great | nice | looks nice | cool | neat | good | brilliant | fantastic | amazing | beautiful | sweet | wonderful | nice one |
  very nice | very good | all good | so good | toll | prima | klasse | spitze | gut | sehr schön | schön | genial | génial |
  super bien | bravo | nickel | genial | bien | estupendo | ótimo | bom | legal
`);

/** What work is too much of. Said of it, and not of something in it: «that's too long», but not «lines that are too long». */
export const TOO_MUCH = list(`
  long | short | verbose | wordy | slow | complicated | complex | vague | big | small | much | many | generic | lang | kurz |
  kompliziert | langsam | ausführlich
`);
