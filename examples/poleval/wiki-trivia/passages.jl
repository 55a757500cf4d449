{"id": "1-0", "title": "Toruń", "text": "Toruń to miasto nad Wisłą, w którym w 1473 roku urodził się astronom Mikołaj Kopernik."}
{"id": "1-1", "title": "Toruń", "text": "Toruńskie pierniki wypieka się z mąki, miodu i korzennych przypraw; najstarsze przepisy sięgają średniowiecza."}
{"id": "2-0", "title": "Morskie Oko", "text": "Morskie Oko jest największym jeziorem w Tatrach i leży w Dolinie Rybiego Potoku."}
{"id": "2-1", "title": "Morskie Oko", "text": "Drogę nad jezioro zamyka się zimą, kiedy ze zboczy schodzą lawiny."}
{"id": "3-0", "title": "Żubr", "text": "Żubr jest największym ssakiem lądowym Europy; wolno żyjące stada można spotkać w Puszczy Białowieskiej."}
{"id": "3-1", "title": "Żubr", "text": "Dorosły byk żubra waży od sześciuset do dziewięciuset kilogramów, a jego dieta to trawy, zioła i kora drzew."}
{"id": "4-0", "title": "Maria Skłodowska-Curie", "text": "Maria Skłodowska-Curie odkryła z mężem Piotrem polon i rad, a nazwę pierwszego z nich dała na cześć Polski."}
{"id": "4-1", "title": "Maria Skłodowska-Curie", "text": "Uczona otrzymała dwie Nagrody Nobla: z fizyki w 1903 roku i z chemii w 1911 roku."}
{"id": "5-0", "title": "Wawel", "text": "Według legendy pod wzgórzem wawelskim mieszkał smok, którego szewczyk nakarmił baranem wypchanym siarką."}
{"id": "5-1", "title": "Wawel", "text": "Katedra na Wawelu była miejscem koronacji i pochówku królów Polski."}
