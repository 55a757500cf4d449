{"id": "101-1", "title": "Regulamin biblioteki miejskiej", "text": "Czytelnik może wypożyczyć jednocześnie nie więcej niż pięć książek na okres trzydziestu dni."}
{"id": "101-2", "title": "Regulamin biblioteki miejskiej", "text": "Za każdy dzień zwłoki w zwrocie książki pobiera się opłatę w wysokości dwudziestu groszy."}
{"id": "101-3", "title": "Regulamin biblioteki miejskiej", "text": "Zagubioną książkę czytelnik odkupuje albo wpłaca jej wartość powiększoną o koszt oprawy."}
{"id": "102-1", "title": "Statut stowarzyszenia ogrodników", "text": "Walne zebranie członków zwołuje zarząd co najmniej raz w roku, zawiadamiając o nim na dwa tygodnie wcześniej."}
{"id": "102-2", "title": "Statut stowarzyszenia ogrodników", "text": "Uchwały zapadają zwykłą większością głosów w obecności co najmniej połowy członków."}
{"id": "102-3", "title": "Statut stowarzyszenia ogrodników", "text": "Komisja rewizyjna kontroluje gospodarkę finansową stowarzyszenia i przedstawia sprawozdanie walnemu zebraniu."}
{"id": "103-1", "title": "Uchwała o hałasie", "text": "W godzinach od dwudziestej drugiej do szóstej zabrania się używania kosiarek spalinowych na terenie osiedla."}
{"id": "103-2", "title": "Uchwała o hałasie", "text": "Kto narusza ciszę nocną, podlega karze porządkowej nakładanej przez straż osiedlową."}
{"id": "104-1", "title": "Zasady najmu sali", "text": "Najemca sali wpłaca kaucję, która podlega zwrotowi w ciągu siedmiu dni od zdania kluczy."}
{"id": "104-2", "title": "Zasady najmu sali", "text": "Wynajmujący może wypowiedzieć umowę bez zachowania terminu, jeżeli najemca zakłóca porządek."}
